"""What every format shares: digit order, zero padding, index hints, random spaces, filling and reading."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from lengthlab.config.lengths import LONGEST
from lengthlab.config.sections import Options, Section
from lengthlab.errors import UserError
from lengthlab.formats.layout import DIGIT, HINT, Columns, IntArray, Layout
from lengthlab.formats.ragged import insert_spaces, without_leading_zeros
from lengthlab.formats.vocabulary import END, PAD, SPACE, Vocabulary
from lengthlab.seeding import generator
from lengthlab.tasks.task import Problems, Task

Tokens = NDArray[np.int64]


class SpaceOptions(Section):
    """Random spaces (Shen et al. 2023): a special token dropped in between the digits of a number."""

    probability: float = Field(default=0.0, ge=0, lt=1, description="of a space in each gap between digits; 0 for none")
    within: Literal["question", "all"] = Field(
        default="question", description="in the operands only, or in the answer too"
    )
    at_test: bool = Field(default=False, description="at test too, or in training only")

    @model_validator(mode="after")
    def _answers_can_be_foreseen(self) -> Self:
        if self.within == "all" and self.at_test:
            reason = "nobody can foresee random spaces in an answer; use false, or spaces within the question"
            raise PydanticCustomError("spaces", reason, {"key": "at_test"})
        return self


class FormatOptions(Options):
    """Options that every format understands."""

    order: Literal["reversed", "standard", "answer-reversed"] = Field(
        default="reversed", description="reversed: units first; answer-reversed: units first in the answer only"
    )
    hints: int = Field(default=102, ge=0, le=LONGEST, description="size of the ordered set of index hints; 0 for none")
    hints_at_test: Literal["random", "first"] = Field(
        default="random", description="where a test problem's hints begin: anywhere, as in training, or at the first"
    )
    hint_order: Literal["line", "ring"] = Field(
        default="line",
        description="line: a problem's hints end at the last one, so those in the middle are met most; ring: the first "
        "follows the last, and all are met equally often",
    )
    hint_jumps: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="share of training problems whose hints jump ahead once, so that hints meet which are further "
        "apart than any training problem is long",
    )
    padding: Literal["carry", "longer", "none"] | Annotated[int, Field(ge=1, le=LONGEST)] = Field(
        default="carry",
        description="zeros in front: carry, room for the last carry in every number; longer, operands as long as the "
        "longest; none; or a number of places for all",
    )
    spaces: SpaceOptions = SpaceOptions()


@dataclass(frozen=True)
class Written:
    """A batch of problems as tokens (B, T), with the layout of its columns."""

    tokens: Tokens
    layout: Layout


@dataclass(frozen=True)
class Reading:
    """Numbers read back from tokens (see `Format.number`)."""

    operands: tuple[str, ...]
    answer: str


class Format(ABC):
    """Writes problems as tokens, reads them back, and knows the place of every token.

    A subclass decides which column follows which (`arrange`) and takes the row apart again (`read`).
    """

    options_class: ClassVar[type[Options]] = FormatOptions
    symbols: ClassVar[tuple[str, ...]] = ()  # besides = and the task's own

    def __init__(self, options: FormatOptions, task: Task) -> None:
        self.options = options
        self.task = task
        if reason := self.refusal():
            raise UserError(f"format.{reason}")
        self.vocabulary = Vocabulary(("=", *self.symbols, *([task.symbol] if task.symbol else [])), options.hints)
        self.equals = self.vocabulary["="]
        self._columns = lru_cache(maxsize=4096)(self._build_columns)
        self._token_counts: dict[int, int] = {}

    def refusal(self) -> str | None:
        """Why these options make no sense with this task, as "option: reason", or None if they do."""
        return None

    # ---- writing

    @abstractmethod
    def arrange(self, columns: Columns, operands: tuple[int, ...], answer: int) -> None:
        """Add the columns of a problem whose numbers are written with these many places."""

    def operand_places(self, width: int) -> range:
        """The places of an operand in the order in which they are written."""
        return range(width) if self.options.order == "reversed" else range(width - 1, -1, -1)

    def answer_places(self, width: int) -> range:
        """The places of the answer in the order in which they are written."""
        return range(width - 1, -1, -1) if self.options.order == "standard" else range(width)

    def write(self, problems: Problems, rng: np.random.Generator, training: bool = True) -> Written:
        """Write a batch; `rng` chooses each problem's run of hints and its spaces."""
        spaces = self.options.spaces.probability if training or self.options.spaces.at_test else 0.0
        return self._write(problems, rng, spaces, training)

    def widest(self, digits: int, training: bool) -> Layout:
        """The layout of a problem of `digits` digits with as many columns as any: a space wherever there may be one."""
        spaces = self.options.spaces
        every_gap = 1.0 if spaces.probability and (training or spaces.at_test) else 0.0
        problems = self.task.solve(self.task.widest(digits))
        return self._write(problems, generator(0, "widest"), every_gap, training).layout

    def token_count(self, digits: int) -> int:
        """How many tokens a problem of `digits` digits has at most, spaces of training aside."""
        if digits not in self._token_counts:
            self._token_counts[digits] = self.widest(digits, training=False).columns
        return self._token_counts[digits]

    def _write(self, problems: Problems, rng: np.random.Generator, spaces: float, training: bool) -> Written:
        operands, answer = self._widths(problems)
        token, layout = self._columns(operands, answer)
        places = max(*operands, answer)
        numbers = np.zeros((len(problems.numbers), places, problems.count), dtype=np.uint8)
        for index, digits in enumerate(problems.numbers):
            numbers[index, : digits.shape[1]] = digits.T

        # Column by column, which is where the memory is contiguous; the batch is a view of it.
        by_column = np.empty((layout.columns, problems.count), dtype=np.int64)
        role, place, segment = layout.role[0], layout.place[0], layout.segment[0]
        digit, hint = role == DIGIT, role == HINT
        constant = ~(digit | hint)
        by_column[constant] = token[constant, None]
        by_column[digit] = numbers[segment[digit], place[digit]]
        if self.options.hints:
            rank = place[hint] if self.options.order == "reversed" else places - 1 - place[hint]
            by_column[hint] = self.vocabulary.first_hint + self._hints(rng, places, problems.count, training)[rank]
        tokens: Tokens = by_column.T
        if self._drops_zeros:
            tokens, layout = without_leading_zeros(tokens, layout, problems)
        if spaces:
            tokens, layout = insert_spaces(tokens, layout, rng, spaces, self.options.spaces.within == "all")
        return Written(tokens, layout)

    @property
    def _drops_zeros(self) -> bool:
        return self.task.numeric and self.options.padding in ("none", "longer")

    def _build_columns(self, operands: tuple[int, ...], answer: int) -> tuple[IntArray, Layout]:
        columns = Columns(hints=self.options.hints > 0)
        self.arrange(columns, operands, answer)
        return columns.finished()

    def _widths(self, problems: Problems) -> tuple[tuple[int, ...], int]:
        """With how many places the operands and the answer are written."""
        operands, answer = tuple(operand.shape[1] for operand in problems.operands), problems.answer.shape[1]
        padding = self.options.padding
        if not self.task.numeric or padding == "none":
            return operands, answer
        if padding == "longer":
            return (max(operands),) * len(operands), answer
        if padding == "carry":
            return (max(*operands, answer),) * len(operands), answer
        if padding < max(*operands, answer):
            needed = max(*operands, answer)
            raise UserError(f"format.padding: {padding} places cannot hold {needed}; set at least {needed}")
        return (padding,) * len(operands), padding

    def _hints(self, rng: np.random.Generator, places: int, count: int, training: bool) -> Tokens:
        """The numbers of each problem's hints in their order, all different: (places, count)."""
        options = self.options
        free = options.hints - places
        if free < 0:
            raise UserError(f"format.hints: {options.hints} hints cannot mark {places} places; set at least {places}")
        ring = options.hint_order == "ring"
        anywhere = training or options.hints_at_test == "random"
        first = rng.integers(0, (options.hints if ring else free + 1) if anywhere else 1, size=count)
        run = first + np.arange(places)[:, None]
        if training and options.hint_jumps and places > 1:
            ahead = rng.integers(0, (free if ring else free - first) + 1, size=count)
            ahead *= rng.random(count) < options.hint_jumps
            run += ahead * (np.arange(places)[:, None] >= rng.integers(1, places, size=count))
        return run % options.hints

    # ---- reading

    @abstractmethod
    def read_operands(self, tokens: Sequence[int]) -> tuple[str | None, ...]:
        """The operands from the tokens between the beginning and `=`; None for one that is malformed."""

    def read_answer(self, tokens: Sequence[int]) -> str | None:
        """The answer that a model produced after the prompt, up to its end token; None if malformed."""
        produced = [token for token in tokens if token not in (SPACE, PAD)]
        return (
            self.number(produced[: produced.index(END)], self.options.order != "standard") if END in produced else None
        )

    def read(self, tokens: Sequence[int]) -> Reading | None:
        """The numbers of one whole row, or None if it is not well formed."""
        row = [token for token in tokens if token not in (SPACE, PAD)]
        if not row or self.vocabulary.texts[row[0]] != "^" or row.count(self.equals) != 1:
            return None
        equals = row.index(self.equals)
        operands = self.read_operands(row[1:equals])
        answer = self.read_answer(row[equals + 1 :])
        if answer is None or any(operand is None for operand in operands):
            return None
        return Reading(tuple(operand for operand in operands if operand is not None), answer)

    def number(self, tokens: Sequence[int], units_first: bool) -> str | None:
        """A written number as a string of digits; None unless it is digits, each after its hint.

        Numbers are returned as people write them, without leading zeros; sequences from place 0 on.
        """
        digits = list(tokens)
        if self.options.hints:
            if len(digits) % 2 or not all(token >= self.vocabulary.first_hint for token in digits[::2]):
                return None
            digits = digits[1::2]
        if not digits or not all(0 <= token <= 9 for token in digits):
            return None
        from_units = "".join(map(str, digits if units_first else digits[::-1]))
        return (from_units[::-1].lstrip("0") or "0") if self.task.numeric else from_units


def split(tokens: Sequence[int], separator: int) -> list[list[int]]:
    """The parts of a sequence between separators."""
    parts: list[list[int]] = [[]]
    for token in tokens:
        if token == separator:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
