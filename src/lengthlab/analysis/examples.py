"""Single wrong answers, with the wrong tokens marked and the first mistake explained.

87 + 45 = 132
  expected  a2b3c1$
  written   a2b2c1$
               ^
  place 1: 8 + 4 + carry 1 = 13, so 3; it wrote 2, which 8 + 4 + carry 0 would give
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthlab.analysis.names import SHIFTS
from lengthlab.analysis.verdicts import CARRY, EARLY, FARTHER, KINDS, LATE, NEIGHBOUR, OTHER, Attempts, judge
from lengthlab.formats.vocabulary import PAD, Vocabulary, up_to_end
from lengthlab.tasks.task import Digits

WHOLE, AROUND = 64, 24  # longer answers are cut to so many tokens on each side of the first mistake


@dataclass(frozen=True)
class WrongAnswer:
    """A wrong answer. Tokens are those around the first mistake; `wrong` marks them in `written`."""

    kind: str
    digits: int
    sum: str  # as people write it
    expected: list[str]
    written: list[str]
    wrong: list[bool]
    cut: tuple[bool, bool]  # whether tokens are left out before and after
    explanation: str


def examples_of_each_kind(attempts: Sequence[Attempts], vocabulary: Vocabulary, each: int = 2) -> list[WrongAnswer]:
    """The first `each` wrong answers of every kind of first mistake."""
    found: dict[int, list[WrongAnswer]] = {kind: [] for kind in range(len(KINDS))}
    for part in attempts:
        answers, _ = judge([part])
        for row in np.flatnonzero(~answers.correct):
            kind = int(answers.kind[row])
            if len(found[kind]) < each:
                found[kind].append(describe(part, int(row), kind, vocabulary))
    return [example for examples in found.values() for example in examples]


def describe(part: Attempts, row: int, kind: int, vocabulary: Vocabulary) -> WrongAnswer:
    """One wrong answer."""
    differs = part.differs[row]
    first = int(np.argmax(differs))
    length = int((part.expected[row] != PAD).sum())
    start, stop = (0, length) if length <= WHOLE else (max(0, first - AROUND), min(length, first + AROUND + 1))
    produced = part.produced[row].tolist()
    written = up_to_end(produced)[start:stop]
    operands = [_number(operand[row]) for operand in part.problems.operands]
    return WrongAnswer(
        kind=KINDS[kind],
        digits=part.digits,
        sum=f"{' + '.join(operands)} = {_number(part.problems.answer[row])}",
        expected=[vocabulary.texts[token] for token in part.expected[row, start:stop]],
        written=[vocabulary.texts[token] for token in written],
        wrong=differs[start : start + len(written)].tolist(),
        cut=(start > 0, stop < length),
        explanation=_explain(part, row, first, kind, vocabulary),
    )


def _number(digits: Digits) -> str:
    return "".join(map(str, digits[::-1].tolist())).lstrip("0") or "0"


def _explain(part: Attempts, row: int, column: int, kind: int, vocabulary: Vocabulary) -> str:
    due, written = (vocabulary.texts[tokens[row, column]] for tokens in (part.expected, part.produced))
    if kind == EARLY:
        missing = int((part.expected[row, column:] != PAD).sum()) - 1
        return f"it ended with {missing} {'token' if missing == 1 else 'tokens'} still to come, {due} first"
    if kind == LATE:
        return f"the answer is complete, but it continued with {written}"
    if kind not in (CARRY, NEIGHBOUR, FARTHER, OTHER):
        return f"{due} was due, it wrote {written}"
    place = int(part.layout.place[row, column])
    carries = part.problems.carries
    assert carries is not None, "sums know their carries"
    carry = int(carries[row, place - 1]) if place else 0
    digits = [_digit(operand[row], place) for operand in part.problems.operands]
    story = f"place {place}: {' + '.join(map(str, digits))} + carry {carry} = {sum(digits) + carry}, so {due}"
    return f"{story}; it wrote {written}{_source(part, row, place, int(written))}"


def _source(part: Attempts, row: int, place: int, written: int) -> str:
    """What else gives the digit that was written, the simplest first."""
    for shift in sorted(SHIFTS, key=abs):
        if not 0 <= place + shift < part.problems.answer.shape[1]:
            continue
        digits = [_digit(operand[row], place + shift) for operand in part.problems.operands]
        for carry in range(part.operands):
            if (sum(digits) + carry) % 10 == written:
                there = f" at place {place + shift}" if shift else ""
                return f", which {' + '.join(map(str, digits))} + carry {carry}{there} would give"
    return ", which no nearby place gives"


def _digit(number: Digits, place: int) -> int:
    return int(number[place]) if place < len(number) else 0
