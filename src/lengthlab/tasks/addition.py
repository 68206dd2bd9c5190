"""Addition: 42 + 39 = 81, drawn as the paper draws it (both operands have the same length)."""

import numpy as np

from lengthlab.options import Options
from lengthlab.tasks.task import Digits, Problems, Task, random_numbers


class AdditionOptions(Options):
    """Addition has nothing to choose."""


class Addition(Task):
    """Both operands are uniform among the numbers of exactly `digits` digits; carries are not balanced."""

    options_class = AdditionOptions
    symbol = "+"

    def __init__(self, options: AdditionOptions) -> None:
        self.options = options

    def draw(self, rng: np.random.Generator, digits: int, count: int) -> Problems:
        operands = (random_numbers(rng, digits, count), random_numbers(rng, digits, count))
        return Problems(operands, self.solve(operands))

    def solve(self, operands: tuple[Digits, ...]) -> Digits:
        """Schoolbook addition, one column of all problems at a time: (problems, places + 1)."""
        places = max(operand.shape[1] for operand in operands)
        answer = np.zeros((operands[0].shape[0], places + 1), dtype=np.uint8)
        for operand in operands:
            answer[:, : operand.shape[1]] += operand
        for place in range(places):
            carry = answer[:, place] // 10
            answer[:, place] -= 10 * carry
            answer[:, place + 1] += carry
        return answer
