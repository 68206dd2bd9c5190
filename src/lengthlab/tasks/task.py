"""What a task is."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lengthlab.options import Options

Digits = NDArray[np.uint8]  # (problems, places); column k holds the digit of 10**k


@dataclass(frozen=True)
class Problems:
    """A batch of problems whose operands have the same shapes.

    42 + 39 = 81 is held as operands ([2, 4], [9, 3]) and answer [1, 8, 0]: the units come first and
    the answer has room for every carry. Nothing is ever turned into a machine integer, so any
    number of digits is exact.
    """

    operands: tuple[Digits, ...]
    answer: Digits

    @property
    def count(self) -> int:
        return self.answer.shape[0]

    def first(self, count: int) -> "Problems":
        """The first `count` problems."""
        return Problems(tuple(operand[:count] for operand in self.operands), self.answer[:count])


class Task(ABC):
    """Draws problems of a given length and knows their answers."""

    options_class: ClassVar[type[Options]]
    symbol: ClassVar[str]  # what stands between the operands

    @abstractmethod
    def draw(self, rng: np.random.Generator, digits: int, count: int) -> Problems:
        """`count` problems whose longest operand has exactly `digits` digits."""

    @abstractmethod
    def solve(self, operands: tuple[Digits, ...]) -> Digits:
        """The answers (problems, answer places) of given operands."""


def random_numbers(rng: np.random.Generator, digits: int, count: int) -> Digits:
    """Uniform numbers of exactly `digits` digits: (count, digits). Only a single digit may be 0."""
    numbers = rng.integers(0, 10, size=(count, digits), dtype=np.uint8)
    if digits > 1:
        numbers[:, -1] = rng.integers(1, 10, size=count, dtype=np.uint8)
    return numbers
