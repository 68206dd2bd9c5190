"""One row for each test problem, on disk as soon as it is known.

`runs/<id>/examples/<weights>[-chain<K>][-<choices>].jsonl`: the first line tells which weights were tested, under which
choices; then comes a line for each example, in whatever order the lengths were tested. An evaluation that was cut short
goes on after the last whole line.
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lengthlab.files import append_lines, read_lines, write_lines


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

    def __init__(self, path: Path | None = None, header: Mapping[str, Any] | None = None) -> None:
        self.path = path
        self._known: dict[int, dict[int, Example]] = defaultdict(dict)
        if path is None:
            return
        lines = read_lines(path)
        if lines and lines[0] == dict(header or {}):
            for line in lines[1:]:
                self._known[line["digits"]][line["index"]] = Example(**line)
            write_lines(path, lines)  # without a last line cut short
        else:  # of other weights, or none yet
            path.parent.mkdir(parents=True, exist_ok=True)
            write_lines(path, [dict(header or {})])

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
        if self.path is not None and examples:
            append_lines(self.path, [example.as_dict() for example in examples])


def example_file(
    folder: Path, weights_file: Path, weights: str, chain: int, choices: Sequence[str] = ()
) -> ExampleFile:
    """The file for a test of `weights`; `choices` are the settings in which the test differs from the run's config."""
    name = weights + (f"-chain{chain}" if chain else "")
    if choices:
        name += "-" + hashlib.sha256("\n".join(choices).encode()).hexdigest()[:8]
    checksum = hashlib.sha256(weights_file.read_bytes()).hexdigest()
    header = {"weights": weights, "sha256": checksum, "chain": chain, "choices": list(choices)}
    return ExampleFile(folder / f"{name}.jsonl", header)
