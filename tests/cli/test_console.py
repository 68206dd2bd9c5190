"""How commands speak."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from lengthlab.cli.console import CONTROL, Screen, duration, size, table, visible


@given(st.text())
def test_visible_text_has_no_control_characters_and_is_seen_once(text: str) -> None:
    shown = visible(text)
    assert not CONTROL.search(shown) and visible(shown) == shown
    assert CONTROL.search(text) or shown == text


@given(st.text(st.characters(codec="utf-8")))
def test_nothing_that_is_printed_reaches_the_terminal_as_control(text: str) -> None:
    """Whatever way it is printed: as a sentence, as a line, in a table or by rich itself."""
    file = io.StringIO()
    screen = Screen(file=file, width=80, force_terminal=True, color_system=None)
    made = table("", ("name",))
    made.add_row(Text(text))
    for way in (screen.say, screen.put, screen.print):
        way(text)
    screen.print(made)
    assert not CONTROL.search(file.getvalue().replace("\t", ""))


def test_markup_is_text() -> None:
    file = io.StringIO()
    Screen(file=file, width=80).print("[bold]:smile:[/bold]")
    assert file.getvalue() == "[bold]:smile:[/bold]\n"


def test_sentences_wrap_on_a_terminal_and_lines_never_do() -> None:
    for terminal, lines in ((True, 2), (False, 1)):
        file = io.StringIO()
        screen = Screen(file=file, width=30, force_terminal=terminal)
        screen.say("ten words of some length make more than thirty columns")
        assert file.getvalue().count("\n") == lines
        screen.put("lengthlab train --resume 0123456789 is never broken")
        assert file.getvalue().count("\n") == lines + 1


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (119, "119 s"), (119.9, "2 min"), (5400, "1.5 h"), (172800, "2.0 days")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(("count", "text"), [(0, "0 bytes"), (1000, "1.0 kB"), (10_400_000, "10 MB")])
def test_sizes(count: float, text: str) -> None:
    assert size(count) == text


def test_a_title_is_not_folded_to_a_narrow_table() -> None:
    file = io.StringIO()
    console = Screen(file=file, width=80, force_terminal=True, color_system=None)
    made = table("A sentence that is wider than the table", ("a",), ("b",))
    made.add_row("1", "2")
    made.caption = "and a caption that is wider too"
    console.show(made)
    title, *_, caption = file.getvalue().splitlines()
    assert (title, caption) == ("A sentence that is wider than the table", "and a caption that is wider too")
