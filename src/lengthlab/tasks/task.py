"""What a task is."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lengthlab.config.sections import Options
from lengthlab.errors import UserError

Digits = NDArray[np.uint8]  # (problems, places); column k holds the digit of 10**k and is contiguous where speed counts


@dataclass(frozen=True)
class Problems:
    """A batch of problems whose operands have the same shapes.

    42 + 39 = 81 is held as operands ([2, 4], [9, 3]) and answer [1, 8, 0]: the units come first and
    the answer has room for every carry. Nothing is ever turned into a machine integer, so any
    number of digits is exact.
    """

    operands: tuple[Digits, ...]
    answer: Digits
    carries: Digits | None = (
        None  # what each place hands to the next, for tasks that have it: (problems, answer places)
    )

    @property
    def count(self) -> int:
        return self.answer.shape[0]

    @property
    def numbers(self) -> tuple[Digits, ...]:
        """The operands, then the answer, then the carries if there are any."""
        carries = () if self.carries is None else (self.carries,)
        return (*self.operands, self.answer, *carries)

    def rows(self, start: int, stop: int) -> "Problems":
        """The problems start..stop-1."""
        part = slice(start, stop)
        carries = None if self.carries is None else self.carries[part]
        return Problems(tuple(operand[part] for operand in self.operands), self.answer[part], carries)


class Task(ABC):
    """Draws problems of a given length and knows their answers."""

    options_class: ClassVar[type[Options]]
    symbol: ClassVar[str] = ""  # what stands between the operands; a single operand needs none
    numeric: ClassVar[bool] = True  # whether leading zeros mean nothing
    has_carries: ClassVar[bool] = False

    @property
    def operands(self) -> int:
        """How many operands a problem has."""
        return 2

    @abstractmethod
    def draw(self, rng: np.random.Generator, digits: int, count: int) -> Problems:
        """`count` problems whose longest operand has exactly `digits` digits."""

    def widest(self, digits: int) -> tuple[Digits, ...]:
        """Operands of `digits` digits whose problem takes as many places as any."""
        return tuple(np.full((1, digits), 9, dtype=np.uint8) for _ in range(self.operands))

    @abstractmethod
    def solve(self, operands: tuple[Digits, ...]) -> Problems:
        """The problems with these operands, answered."""

    @abstractmethod
    def oracle(self, *operands: str) -> str:
        """The answer in plain Python, sharing no code with `solve`, which is tested against it.

        Numbers come and go as people write them, sequences of digits as they are.
        """

    def draw_carry_chain(self, rng: np.random.Generator, digits: int, count: int, chain: int) -> Problems:
        """Problems in which a carry runs through exactly `chain` places, for tasks that have carries."""
        raise UserError("evaluation.chain: only addition of two numbers has a carry-heavy test set; set it to 0")

    def draw_symmetric(self, rng: np.random.Generator, digits: int, count: int, sparse: bool) -> Problems:
        """Problems whose operands are all the same number, for tasks where that is a test of its own."""
        raise UserError("evaluation.operands: only addition has a symmetric test set; set it to uniform")


def random_numbers(rng: np.random.Generator, digits: int, count: int) -> Digits:
    """Uniform numbers of exactly `digits` digits: (count, digits). Only a single digit may be 0."""
    numbers = rng.integers(0, 10, size=(digits, count), dtype=np.uint8)
    if digits > 1:
        numbers[-1] = rng.integers(1, 10, size=count, dtype=np.uint8)
    return numbers.T
