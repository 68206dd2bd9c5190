"""What a model wrote, digit by digit and answer by answer: what is wrong, and what else would explain it.

    places        3210
    operands      0472 + 0391
    answer        0863            carry into place 2: 7 + 9 = 16 hands on 1

At place 1 the digit 6 is due. If 7 is written, the place was right and a carry was added that is not there. If 8 is
written, it may be that of place 2, 4 + 3 and a carry: the model looked one place too high. By luck a wrong digit can
match as well, so every match is reported with the share of the nine wrong digits that would have matched.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from lengthlab.analysis.names import SHIFTS
from lengthlab.batches import Batch, Pipeline
from lengthlab.errors import UserError
from lengthlab.evaluation.answers import answers
from lengthlab.formats.layout import DIGIT, ENDING, HINT, IntArray, Layout
from lengthlab.formats.vocabulary import END, PAD
from lengthlab.model.transformer import Transformer
from lengthlab.tasks.task import Problems

Flags = NDArray[np.bool_]

HALF_SHIFTS = (-1, 1)  # the same for one operand only, the others being read at the right place
NO_DIGIT, NOT_WRITTEN = -1, -2  # instead of a digit: another token, or nothing because the answer had ended

EARLY, LATE, WRONG_HINT, CARRY, NEIGHBOUR, FARTHER, OTHER, WRITTEN_CARRY, OUT_OF_FORM = range(9)
KINDS = (
    "ends too early",
    "does not end",
    "wrong hint",
    "right place, wrong carry",
    "digit of a neighbouring place",
    "digit of a place 2 or 3 away",
    "any other digit",
    "wrong carry in the scratchpad",
    "token out of form",
)


@dataclass(frozen=True)
class Attempts:
    """B sums whose numbers have the same shapes, with the A columns of their answers, end token included."""

    digits: int  # of the longest operand
    problems: Problems
    layout: Layout  # of the answer's columns: (B, A)
    expected: IntArray  # (B, A), PAD after the end
    produced: IntArray  # (B, A), PAD after an end; cut after A tokens

    @property
    def differs(self) -> NDArray[np.bool_]:
        """(B, A): where another token was written than should have been; nothing counts after the true end."""
        return (self.produced != self.expected) & (self.expected != PAD)

    @property
    def operands(self) -> int:
        return len(self.problems.operands)


def require_sums(pipeline: Pipeline, run: str) -> None:
    """Refuse what the analysis has no words for: only sums have carries that it knows and places that line up."""
    if pipeline.task.symbol != "+":
        kind = pipeline.config.task.kind
        raise UserError(f"run {run} was trained on {kind}; analyse explains the mistakes of addition only")


def attempt(model: Transformer, pipeline: Pipeline, digits: int, examples: int) -> list[Attempts]:
    """The model's own greedy answers to the first `examples` test problems of a length.

    Each token is written after the model's own tokens, wrong ones included, as in use.
    """
    return [
        attempts_of(digits, problems, batch, answers(model, batch).produced)
        for problems, batch in pipeline.test_batches(digits, examples)
    ]


def attempts_of(digits: int, problems: Problems, batch: Batch, produced: torch.Tensor) -> Attempts:
    """Join what was asked with what was written, (B, A)."""
    expected = batch.targets.numpy()
    first, layout = batch.answer, batch.layout
    role, place, segment = (
        np.broadcast_to(values[:, first:], expected.shape) for values in (layout.role, layout.place, layout.segment)
    )
    return Attempts(digits, problems, Layout(role, place, segment, 0), expected, produced.numpy())


@dataclass(frozen=True)
class ColumnTable:
    """Columns of equal length."""

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


@dataclass(frozen=True)
class DigitTable(ColumnTable):
    """One entry for each digit that belongs in an answer: (N,)."""

    digits: IntArray  # length of the operands
    place: IntArray
    places: IntArray  # how many digits this answer has
    expected: IntArray
    produced: IntArray  # or NO_DIGIT or NOT_WRITTEN
    carry: Flags  # whether the place below hands on a carry
    matches: Flags  # (N, shifts, 10): the digits that the operands of a shifted place give, whatever the carry
    half_matches: Flags  # (N, half shifts, 10): the same if one operand is shifted

    @property
    def wrong(self) -> Flags:
        """Written, but not as it should be."""
        return (self.produced != self.expected) & (self.produced != NOT_WRITTEN)


@dataclass(frozen=True)
class AnswerTable(ColumnTable):
    """One entry for each answer: (M,)."""

    digits: IntArray
    correct: Flags
    kind: IntArray  # of the first mistake, an index of KINDS; -1 for none
    luck: NDArray[np.float64]  # (M, kinds): where the first mistake is a digit, the share of wrong digits of each kind
    wrong_digits: IntArray  # how many digits were written wrong
    early: Flags  # ended before it should have
    late: Flags  # had not ended where it should have
    wrong_hint: Flags  # wrote at least one wrong hint


def judge(attempts: Sequence[Attempts]) -> tuple[AnswerTable, DigitTable]:
    """Verdicts on all attempts."""
    judged = [_judge(part) for part in attempts]
    return AnswerTable.join([answers for answers, _ in judged]), DigitTable.join([digits for _, digits in judged])


def _judge(part: Attempts) -> tuple[AnswerTable, DigitTable]:
    differs, role = part.differs, part.layout.role
    is_digit = (role == DIGIT) & (part.layout.segment == part.operands)
    ends = part.produced == END
    ended = np.cumsum(ends, axis=1) > 0  # an end was written here or before
    table, row, column = _digits(part, is_digit, ended)
    correct: Flags = np.logical_not(differs.any(axis=1))
    first = np.argmax(differs, axis=1)
    everyone = np.arange(len(correct))
    written, due, due_role = part.produced[everyone, first], part.expected[everyone, first], role[everyone, first]

    kinds_of = kinds_by_digit(table.matches)  # (N, 10)
    entry = np.full(part.expected.shape, -1)
    entry[row, column] = np.arange(len(row))
    at_digit = is_digit[everyone, first] & (written <= 9)
    found = entry[everyone, first]
    digit_kind = kinds_of[found, np.minimum(written, 9)]
    kind = np.select(
        [correct, written == END, due_role == ENDING, due_role == HINT, at_digit, (due_role == DIGIT) & (written <= 9)],
        [-1, EARLY, LATE, WRONG_HINT, digit_kind, WRITTEN_CARRY],
        OUT_OF_FORM,
    )
    luck = np.zeros((len(correct), len(KINDS)))
    chosen = ~correct & at_digit
    possible = kinds_of[found[chosen]]  # (n, 10)
    is_wrong = np.arange(10) != due[chosen, None]
    for index in (CARRY, NEIGHBOUR, FARTHER, OTHER):
        luck[chosen, index] = ((possible == index) & is_wrong).sum(axis=1) / 9

    end = part.expected == END
    wrong_hint = (differs & (role == HINT) & ~ended).any(axis=1)
    early = (ends & (np.cumsum(end, axis=1) == 0)).any(axis=1)
    late = (end & differs & ~ended).any(axis=1)
    wrong_digits = np.bincount(row, weights=table.wrong, minlength=len(correct)).astype(np.int64)
    digits = np.full(len(correct), part.digits)
    return AnswerTable(digits, correct, kind, luck, wrong_digits, early, late, wrong_hint), table


def _digits(part: Attempts, is_digit: Flags, ended: Flags) -> tuple[DigitTable, IntArray, IntArray]:
    """The table of digits, with the row and column of each entry."""
    row, column = np.nonzero(is_digit)
    place = part.layout.place[row, column]
    token = part.produced[row, column]
    produced = np.where(ended[row, column], NOT_WRITTEN, np.where(token <= 9, token, NO_DIGIT))
    answer, carries = part.problems.answer, part.problems.carries
    assert carries is not None, "sums know their carries"
    incoming = np.zeros(answer.shape, dtype=bool)
    incoming[:, 1:] = carries[:, :-1] > 0
    matches, half_matches = _matches(part, row, place)
    table = DigitTable(
        digits=np.full(len(row), part.digits),
        place=place,
        places=is_digit.sum(axis=1)[row],
        expected=part.expected[row, column],
        produced=produced,
        carry=incoming[row, place],
        matches=matches,
        half_matches=half_matches,
    )
    return table, row, column


def _matches(part: Attempts, row: IntArray, place: IntArray) -> tuple[Flags, Flags]:
    """(N, shifts, 10): which digits the operands around `place` give, all shifted, and one shifted, with any carry."""
    count, places = part.problems.answer.shape
    reach = max(map(abs, SHIFTS))
    numbers = np.zeros((part.operands, count, places + 2 * reach), dtype=np.int64)
    for number, operand in zip(numbers, part.problems.operands, strict=True):
        number[:, reach : reach + operand.shape[1]] = operand
    total = numbers.sum(axis=0)
    here = total[row, place + reach]

    def gives(shift: int, *sums: IntArray) -> Flags:
        found = np.zeros((len(row), 10), dtype=bool)
        exists = np.flatnonzero((place + shift >= 0) & (place + shift < places))
        for values in sums:
            for carry in range(part.operands):  # n numbers hand on at most n - 1
                found[exists, (values[exists] + carry) % 10] = True
        return found

    whole = [gives(shift, total[row, place + reach + shift]) for shift in SHIFTS]
    half = [
        gives(shift, *(here - n[row, place + reach] + n[row, place + reach + shift] for n in numbers))
        for shift in HALF_SHIFTS
    ]
    return np.stack(whole, axis=1), np.stack(half, axis=1)


def kinds_by_digit(matches: Flags) -> IntArray:
    """(N, 10): the kind of mistake that each digit would be, the simplest explanation first."""
    around = {shift: matches[:, index] for index, shift in enumerate(SHIFTS)}
    return np.select(
        [around[0], around[-1] | around[1], around[-2] | around[2] | around[-3] | around[3]],
        [CARRY, NEIGHBOUR, FARTHER],
        OTHER,
    )
