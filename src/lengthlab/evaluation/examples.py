"""One row for each test problem, on disk as soon as it is known.

`runs/<id>/examples/<weights>[-chain<K>][-<choices>].jsonl`: the first line says which weights were tested, under which
choices; then comes a line for each example, in whatever order the lengths were tested, with a checksum. An evaluation
that was cut short resumes after the last whole line, and a line that does not fit its checksum is computed again.
"""

import errno
import hashlib
import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lengthlab.runs.columns import is_whole
from lengthlab.runs.files import CUT_SHORT, Damaged, append_lines, read_rows, write_lines
from lengthlab.runs.seal import digest_of

CHECKED = {"checked": True}  # in the first line: every row has a checksum


@dataclass(frozen=True)
class Example:
    """How one test problem went."""

    digits: int
    index: int  # the problem's number among those of its length
    right: bool  # the whole answer, its end included, as greedy decoding gives it
    tokens_right: int  # of the likeliest tokens after the true ones before them
    tokens: int
    digits_right: int  # of greedy decoding, each in its own place
    places: int
    length_right: bool  # the end came where it should
    prompt: str | None = None  # what was asked, wanted and produced; left out where the answer is right
    truth: str | None = None
    produced: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value is not None}


class ExampleFile:
    """The examples of one run tested with some weights under some choices; without a path nothing is kept."""

    def __init__(
        self,
        path: Path | None = None,
        header: Mapping[str, Any] | None = None,
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        """`note` is called with a sentence about anything damaged."""
        self.path = path
        self._note = note
        self._header = dict(header or {}) | CHECKED
        self._known: dict[int, dict[int, Example]] = defaultdict(dict)
        self._lines: list[dict[str, Any]] | None = None  # what the file should hold, if that differs from what it does
        if path is not None:
            self._read(path)

    def _read(self, path: Path) -> None:
        """Take what fits; nothing is written before there is something to add."""
        try:
            lines, broken = read_rows(path)
        except Damaged as error:
            self._note(f"{error.path}: {error.reason}; tested again")
            lines, broken = [], []
        first = lines[0] if lines and isinstance(lines[0], dict) else {}
        if first | CHECKED != self._header:  # of other weights, or none yet
            self._lines = [self._header]
            return
        sound = [first]
        for line in lines[1:]:
            if example := _example(line, checked="checked" in first):
                self._known[example.digits][example.index] = example
                sound.append(line)
        wrong = len(lines) - len(sound) + sum(reason != CUT_SHORT for _, reason in broken)
        if wrong:
            self._note(f"{path}: {wrong} damaged row{'s' if wrong > 1 else ''}, tested again")
        if wrong or broken:
            self._lines = sound

    @property
    def lengths(self) -> list[int]:
        """Every length of which an example is known."""
        return sorted(length for length, known in self._known.items() if known)

    def first(self, digits: int, count: int) -> list[Example]:
        """The examples of a length that are known, from number 0 on without a gap, at most `count`."""
        known = self._known[digits]
        found = []
        while len(found) < count and len(found) in known:
            found.append(known[len(found)])
        return found

    def add(self, examples: Sequence[Example]) -> None:
        """Keep new examples."""
        for example in examples:
            self._known[example.digits][example.index] = example
        if self.path is None or not examples:
            return
        try:
            if self._lines is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                write_lines(self.path, self._lines)
                self._lines = None
            append_lines(self.path, [_row(example) for example in examples])
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EROFS, errno.EPERM, errno.EISDIR):
                raise
            self._note(f"{self.path}: {error.strerror}; the answers are not kept")
            self.path = None


def _row(example: Example) -> dict[str, Any]:
    row = example.as_dict()
    return row | {"check": _checksum(row)}


def _checksum(row: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(row, sort_keys=True).encode())


def _example(line: Any, checked: bool) -> Example | None:
    """The example that a line holds; None if it is not what was written. Earlier versions wrote no checksums."""
    if not isinstance(line, dict):
        return None
    row = {name: value for name, value in line.items() if name != "check"}
    if checked and line.get("check") != _checksum(row):
        return None
    try:
        example = Example(**row)
    except TypeError:
        return None
    whole = (example.digits, example.index, example.tokens_right, example.tokens, example.digits_right, example.places)
    return example if all(map(is_whole, whole)) and isinstance(example.right, bool) else None


def example_file(
    folder: Path,
    weights_file: Path,
    weights: str,
    chain: int,
    choices: Sequence[str] = (),
    note: Callable[[str], None] = lambda text: None,
) -> ExampleFile:
    """The file for a test of `weights`; `choices` are the settings in which the test differs from the run's config."""
    if folder.is_symlink():
        note(f"{folder}: a symbolic link; the answers are not kept")
        return ExampleFile(note=note)
    name = weights + (f"-chain{chain}" if chain else "")
    if choices:
        name += "-" + hashlib.sha256("\n".join(choices).encode()).hexdigest()[:8]
    header = {"weights": weights, "sha256": digest_of(weights_file), "chain": chain, "choices": list(choices)}
    return ExampleFile(folder / f"{name}.jsonl", header, note)
