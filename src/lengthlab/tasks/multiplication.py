"""Multiplication: 42 x 39 = 1638, n digits by m."""

import numpy as np
from pydantic import Field

from lengthlab.config.lengths import LONGEST
from lengthlab.config.sections import Options
from lengthlab.tasks.task import Digits, Problems, Task, random_numbers


class MultiplicationOptions(Options):
    """By one digit unless asked otherwise."""

    second: int = Field(
        default=1, ge=0, le=LONGEST, description="digits of the second number; 0 for as many as the first"
    )


class Multiplication(Task):
    """The first number has the length asked for, the second its own."""

    options_class = MultiplicationOptions
    symbol = "*"

    def __init__(self, options: MultiplicationOptions) -> None:
        self.options = options

    def _second(self, digits: int) -> int:
        return min(self.options.second or digits, digits)

    def draw(self, rng: np.random.Generator, digits: int, count: int) -> Problems:
        return self.solve((random_numbers(rng, digits, count), random_numbers(rng, self._second(digits), count)))

    def widest(self, digits: int) -> tuple[Digits, ...]:
        return np.full((1, digits), 9, dtype=np.uint8), np.full((1, self._second(digits)), 9, dtype=np.uint8)

    def solve(self, operands: tuple[Digits, ...]) -> Problems:
        """All products of two digits, summed by place, then the carries: (problems, n + m places)."""
        a, b = (operand.astype(np.int64) for operand in operands)
        answer = np.zeros((len(a), a.shape[1] + b.shape[1]), dtype=np.int64)
        for place in range(b.shape[1]):
            answer[:, place : place + a.shape[1]] += a * b[:, place : place + 1]
        for place in range(answer.shape[1] - 1):
            answer[:, place + 1] += answer[:, place] // 10
            answer[:, place] %= 10
        return Problems(operands, answer.astype(np.uint8))

    def oracle(self, *operands: str) -> str:
        return str(int(operands[0]) * int(operands[1]))
