"""Tasks on sequences of digits, the first of which is at place 0.

4071  copy 4071   reverse 1704   sort 0147        1011  parity 1
"""

from abc import abstractmethod

import numpy as np

from lengthlab.config.sections import Options
from lengthlab.tasks.task import Digits, Problems, Task


class SequenceOptions(Options):
    """Sequence tasks have nothing to choose."""


class SequenceTask(Task):
    """One operand of uniform digits; leading zeros are digits like any other."""

    options_class = SequenceOptions
    numeric = False
    base = 10

    def __init__(self, options: SequenceOptions) -> None:
        self.options = options

    @property
    def operands(self) -> int:
        return 1

    def draw(self, rng: np.random.Generator, digits: int, count: int) -> Problems:
        return self.solve((rng.integers(0, self.base, size=(count, digits), dtype=np.uint8),))

    def widest(self, digits: int) -> tuple[Digits, ...]:
        return (np.full((1, digits), self.base - 1, dtype=np.uint8),)

    def solve(self, operands: tuple[Digits, ...]) -> Problems:
        return Problems(operands, self.answer(operands[0]))

    @abstractmethod
    def answer(self, digits: Digits) -> Digits:
        """The answers (problems, places) of sequences."""


class Copy(SequenceTask):
    """The same digits again."""

    def answer(self, digits: Digits) -> Digits:
        return digits.copy()

    def oracle(self, *operands: str) -> str:
        return operands[0]


class Reverse(SequenceTask):
    """The digits from the other end."""

    def answer(self, digits: Digits) -> Digits:
        return digits[:, ::-1].copy()

    def oracle(self, *operands: str) -> str:
        return "".join(reversed(operands[0]))


class Sort(SequenceTask):
    """The digits in ascending order."""

    def answer(self, digits: Digits) -> Digits:
        return np.sort(digits, axis=1)

    def oracle(self, *operands: str) -> str:
        return "".join(sorted(operands[0]))


class Parity(SequenceTask):
    """1 if the number of ones is odd, else 0."""

    base = 2

    def answer(self, digits: Digits) -> Digits:
        return (digits.sum(axis=1, dtype=np.int64, keepdims=True) % 2).astype(np.uint8)

    def oracle(self, *operands: str) -> str:
        return str(operands[0].count("1") % 2)
