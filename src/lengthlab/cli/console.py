"""How commands speak: sentences, tables, JSON and CSV, durations and sizes, in one style.

What is printed may come from anywhere (names of files, labels, messages of other programs), so it is never taken for
markup, and control characters in it are shown, not sent to the terminal.
"""

import csv
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

WIDTH_OF_A_FILE = 100  # columns, where the output is no terminal and COLUMNS says nothing
LONGEST_WORD = 500  # in a sentence: longer than a usual path
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Text whose control characters can be seen.

    >>> visible("red\x1b[31m")
    'red\\x1b[31m'
    """
    return CONTROL.sub(lambda match: repr(match[0])[1:-1], text)


class Screen(Console):
    """A console that sends no control characters but its own, and takes no text for markup."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, highlight=False, emoji=False, **options)
        if not self.is_terminal and "width" not in options and "COLUMNS" not in os.environ:
            self.width = WIDTH_OF_A_FILE

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            shown = segment.text if segment.control else visible(segment.text)
            yield segment if shown == segment.text else segment._replace(text=shown)

    def needs(self, made: Table) -> int:
        """Characters that a table is wide if nothing in it folds."""
        return made.__rich_measure__(self, self.options.update(max_width=100_000)).maximum

    def show(self, made: Table) -> None:
        """A table; its title and caption are sentences, wrapped as such and not to the table's own width."""
        title, made.title = made.title, None
        caption, made.caption = made.caption, None
        if title:
            self.say(str(title), "italic")
        self.print(made)
        if caption:
            self.say(str(caption), "dim")

    def say(self, text: str = "", style: str = "") -> None:
        """A sentence, wrapped on a terminal and whole elsewhere."""
        self.print(Text(visible(text), style=style), soft_wrap=not self.is_terminal)

    def put(self, text: str | Text = "", style: str = "") -> None:
        """A line that may be copied from the terminal, such as a path or a command: never wrapped."""
        self.print(Text(visible(text), style=style) if isinstance(text, str) else text, soft_wrap=True)


def complain(message: object, style: str = "red") -> None:
    """A sentence on standard error; what was typed may be a word of thousands of characters."""
    words = (word if len(word) <= LONGEST_WORD else f"{word[:100]}...{word[-100:]}" for word in str(message).split())
    Screen(stderr=True).say(f"lengthlab: {' '.join(words)}", style)


def table(title: str, left: Sequence[str], right: Sequence[str] = ()) -> Table:
    """A table with columns of text, which fold, and columns of numbers, which do not."""
    made = Table(title=Text(title) if title else None, title_justify="left", caption_justify="left", box=SIMPLE_HEAD)
    made.padding, made.pad_edge, made.show_edge = (0, 1, 0, 0), False, False
    for name in left:
        made.add_column(Text(visible(name)), overflow="fold")
    for name in right:
        made.add_column(Text(visible(name)), justify="right", no_wrap=True)
    return made


def print_json(value: Any) -> None:
    print(json.dumps(_plain(value), indent=2))


def _plain(value: Any) -> Any:
    """What JSON can say: no NaN, no moments."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)


def print_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """CSV with a header; what is missing is empty, what is nested is JSON."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        plain = [json.dumps(_plain(value)) if isinstance(value, dict | list) else value for value in row]
        writer.writerow([visible(value) if isinstance(value, str) else value for value in plain])


def duration(seconds: float) -> str:
    """
    >>> duration(20), duration(300), duration(7200), duration(360000)
    ('20 s', '5 min', '2.0 h', '4.2 days')
    """
    if seconds < 119.5:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"


def size(count: float) -> str:
    """
    >>> size(800), size(52_000), size(3_400_000_000)
    ('800 bytes', '52 kB', '3.4 GB')
    """
    for unit, bytes_in_it in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= bytes_in_it:
            return f"{count / bytes_in_it:.{0 if count >= 10 * bytes_in_it else 1}f} {unit}"
    return f"{count:.0f} bytes"


def plural(count: int, noun: str) -> str:
    """
    >>> plural(1, "run"), plural(3, "run")
    ('1 run', '3 runs')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"
