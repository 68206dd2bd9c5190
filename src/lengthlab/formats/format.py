"""What every format shares: digit order, zero padding, index hints, filling and reading."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from lengthlab.errors import UserError
from lengthlab.formats.layout import CONSTANT, DIGIT, HINT, NO_PLACE, ColumnArrays, Columns, Layout
from lengthlab.formats.vocabulary import END, PAD, Vocabulary
from lengthlab.options import Options
from lengthlab.tasks.task import Problems

Tokens = NDArray[np.int64]


class FormatOptions(Options):
    """Options that every format understands."""

    order: Literal["reversed", "standard"] = Field(default="reversed", description="reversed writes the units first")
    hints: int = Field(default=102, ge=0, description="size of the ordered set of index hints; 0 for none")
    padding: Literal["carry", "none"] = Field(
        default="carry", description="carry: a leading zero gives every number room for the last carry; none: no zeros"
    )


@dataclass(frozen=True)
class Written:
    """A batch of problems as tokens (B, T), with the layout of its columns."""

    tokens: Tokens
    layout: Layout


@dataclass(frozen=True)
class Reading:
    """Numbers read back from tokens, as decimal strings without leading zeros."""

    operands: tuple[str, ...]
    answer: str


class Format(ABC):
    """Writes problems as tokens, reads them back, and tells the place of every token.

    A subclass decides which column follows which (`arrange`) and takes the row apart again (`read`).
    """

    options_class: ClassVar[type[Options]] = FormatOptions
    symbols: ClassVar[tuple[str, ...]] = ("=",)  # besides the task's own

    def __init__(self, options: FormatOptions, task_symbol: str) -> None:
        self.options = options
        self.vocabulary = Vocabulary((*self.symbols, task_symbol), options.hints)
        self.task_symbol = self.vocabulary[task_symbol]
        self.equals = self.vocabulary["="]
        self._columns = lru_cache(maxsize=4096)(self._build_columns)

    # ---- writing

    @abstractmethod
    def arrange(self, columns: Columns, operands: tuple[int, ...], answer: int) -> None:
        """Add the columns of a problem whose numbers are written with these many places."""

    def places(self, width: int) -> range:
        """The places of a number in the order in which they are written."""
        return range(width) if self.options.order == "reversed" else range(width - 1, -1, -1)

    def write(self, problems: Problems, rng: np.random.Generator) -> Written:
        """Write a batch; `rng` chooses each problem's run of hints."""
        columns = self._columns(*self._widths(problems))
        places = problems.answer.shape[1]
        numbers = np.zeros((problems.count, len(problems.operands) + 1, places), dtype=np.int64)
        for index, digits in enumerate((*problems.operands, problems.answer)):
            numbers[:, index, : digits.shape[1]] = digits

        tokens = columns.token[None].repeat(problems.count, axis=0)
        digit = columns.role == DIGIT
        tokens[:, digit] = numbers[:, columns.segment[digit], columns.place[digit]]
        if self.options.hints:
            hint = columns.role == HINT
            rank = columns.place[hint] if self.options.order == "reversed" else places - 1 - columns.place[hint]
            tokens[:, hint] = self._first_hints(rng, places, problems.count)[:, None] + rank
        if self.options.padding == "none":
            return _without_leading_zeros(tokens, columns, problems)
        return Written(tokens, columns.layout)

    def _build_columns(self, operands: tuple[int, ...], answer: int) -> ColumnArrays:
        columns = Columns(hints=self.options.hints > 0)
        self.arrange(columns, operands, answer)
        return columns.arrays()

    def _widths(self, problems: Problems) -> tuple[tuple[int, ...], int]:
        answer = problems.answer.shape[1]
        if self.options.padding == "carry":
            return (answer,) * len(problems.operands), answer
        return tuple(operand.shape[1] for operand in problems.operands), answer

    def _first_hints(self, rng: np.random.Generator, places: int, count: int) -> Tokens:
        """The token of each problem's first hint, (count,), such that a run of `places` hints fits."""
        free = self.options.hints - places
        if free < 0:
            raise UserError(
                f"format.hints: {self.options.hints} hints cannot mark {places} places; set at least {places}"
            )
        return self.vocabulary.first_hint + rng.integers(0, free + 1, size=count)

    # ---- reading

    @abstractmethod
    def read(self, tokens: Sequence[int]) -> Reading | None:
        """The numbers of one whole row, or None if it is not well formed."""

    def read_answer(self, tokens: Sequence[int]) -> str | None:
        """The number that a model produced after the prompt, up to its end token; None if malformed."""
        produced = list(tokens)
        return self.number(produced[: produced.index(END)]) if END in produced else None

    def number(self, tokens: Sequence[int]) -> str | None:
        """A written number as a decimal string; None unless it is digits, each after its hint."""
        digits = list(tokens)
        if self.options.hints:
            if len(digits) % 2 or not all(token >= self.vocabulary.first_hint for token in digits[::2]):
                return None
            digits = digits[1::2]
        if not digits or not all(0 <= token <= 9 for token in digits):
            return None
        if self.options.order == "reversed":
            digits = digits[::-1]
        return "".join(map(str, digits)).lstrip("0") or "0"


def _without_leading_zeros(tokens: Tokens, columns: ColumnArrays, problems: Problems) -> Written:
    """Drop the answer's leading zeros and close the gaps; rows then differ and end in padding."""
    significant = np.maximum.accumulate(problems.answer[:, ::-1] > 0, axis=1)[:, ::-1]
    significant[:, 0] = True  # the number zero keeps one digit
    of_answer = (columns.segment == len(problems.operands)) & (columns.role != CONSTANT)
    dropped = np.zeros(tokens.shape, dtype=bool)
    dropped[:, of_answer] = ~significant[:, columns.place[of_answer]]
    order = np.argsort(dropped, axis=1, kind="stable")  # what is dropped goes to the end

    def gather(values: Tokens, filler: int) -> Tokens:
        return np.take_along_axis(np.where(dropped, filler, values), order, axis=1)

    layout = Layout(
        gather(columns.place[None], NO_PLACE), gather(columns.segment[None], len(problems.operands)), columns.answer
    )
    return Written(gather(tokens, PAD), layout)
