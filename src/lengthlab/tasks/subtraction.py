"""Subtraction: 81 - 39 = 42, the larger number first."""

import numpy as np

from lengthlab.config.sections import Options
from lengthlab.tasks.task import Digits, Problems, Task, random_numbers


class SubtractionOptions(Options):
    """Subtraction has nothing to choose."""


class Subtraction(Task):
    """Two uniform numbers of one length, swapped where the second is larger."""

    options_class = SubtractionOptions
    symbol = "-"
    has_carries = True

    def __init__(self, options: SubtractionOptions) -> None:
        self.options = options

    def draw(self, rng: np.random.Generator, digits: int, count: int) -> Problems:
        a, b = random_numbers(rng, digits, count), random_numbers(rng, digits, count)
        smaller = _is_less(a, b)[:, None]
        return self.solve((np.where(smaller, b, a), np.where(smaller, a, b)))

    def widest(self, digits: int) -> tuple[Digits, ...]:
        return np.full((1, digits), 9, dtype=np.uint8), np.full((1, digits), 1, dtype=np.uint8)

    def solve(self, operands: tuple[Digits, ...]) -> Problems:
        """Schoolbook subtraction; the borrow of each place is its carry."""
        a, b = (operand.astype(np.int8) for operand in operands)
        answer = a.copy()
        answer[:, : b.shape[1]] -= b
        borrows = np.zeros_like(answer)
        for place in range(answer.shape[1]):
            if place:
                answer[:, place] -= borrows[:, place - 1]
            borrows[:, place] = answer[:, place] < 0
            answer[:, place] += 10 * borrows[:, place]
        return Problems(operands, answer.astype(np.uint8), borrows.astype(np.uint8))

    def oracle(self, *operands: str) -> str:
        return str(int(operands[0]) - int(operands[1]))


def _is_less(a: Digits, b: Digits) -> np.ndarray:
    """Row by row, a < b, for numbers of one length: the highest place that differs decides."""
    differs = a != b
    top = a.shape[1] - 1 - np.argmax(differs[:, ::-1], axis=1)
    rows = np.arange(len(a))
    return a[rows, top] < b[rows, top]
