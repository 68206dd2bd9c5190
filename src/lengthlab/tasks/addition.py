"""Addition: 42 + 39 = 81, drawn as the paper draws it unless asked otherwise."""

from typing import Literal

import numpy as np
from pydantic import Field

from lengthlab.config.sections import Options
from lengthlab.errors import UserError
from lengthlab.tasks.task import Digits, Problems, Task, random_numbers


class AdditionOptions(Options):
    """The paper adds two numbers of one length and does not balance carries."""

    operands: int = Field(default=2, ge=2, le=25, description="how many numbers are added")
    lengths: Literal["equal", "independent"] = Field(
        default="equal", description="independent: one operand has the full length, the others any up to it"
    )


class Addition(Task):
    """Operands are uniform among the numbers of their length; a batch has one length for each operand."""

    options_class = AdditionOptions
    symbol = "+"
    has_carries = True

    def __init__(self, options: AdditionOptions) -> None:
        self.options = options

    @property
    def operands(self) -> int:
        return self.options.operands

    def draw(self, rng: np.random.Generator, digits: int, count: int) -> Problems:
        lengths = [digits] * self.operands
        if self.options.lengths == "independent":
            lengths = rng.permutation([digits, *rng.integers(1, digits + 1, size=self.operands - 1)]).tolist()
        return self.solve(tuple(random_numbers(rng, length, count) for length in lengths))

    def solve(self, operands: tuple[Digits, ...]) -> Problems:
        """Schoolbook addition, one column of all problems at a time."""
        places = max(operand.shape[1] for operand in operands)
        total = np.zeros((places + len(str(len(operands) - 1)), operands[0].shape[0]), dtype=np.uint8)
        for operand in operands:
            total[: operand.shape[1]] += operand.T
        carries = np.zeros_like(total)
        carry = carries[0]  # none to begin with
        for place, column in enumerate(total):
            column += carry
            carry = np.floor_divide(column, 10, out=carries[place])
            column -= 10 * carry
        return Problems(operands, total.T, carries.T)

    def draw_symmetric(self, rng: np.random.Generator, digits: int, count: int, sparse: bool) -> Problems:
        """Sums of a number with itself, as in 427+427; sparse: 0 but for one digit, as in 00200+00200.

        Where all places look alike, only their position tells which is meant.
        """
        number = random_numbers(rng, digits, count)
        if sparse:
            number = np.zeros((count, digits), dtype=np.uint8)
            number[np.arange(count), rng.integers(0, digits, size=count)] = rng.integers(1, 10, size=count)
        return self.solve((number,) * self.operands)

    def oracle(self, *operands: str) -> str:
        return str(sum(map(int, operands)))

    def draw_carry_chain(self, rng: np.random.Generator, digits: int, count: int, chain: int) -> Problems:
        """Sums with one carry, born at a random place, that runs through exactly `chain` places, as in 999+1 (chain 3).

        The first place of the chain sums to 10 or more, its others to 9, and all other places to 8 or less.
        """
        if self.operands != 2 or not 1 <= chain <= digits:
            raise UserError(
                f"evaluation.chain: a carry can run through 1 to {digits} places of {digits}-digit sums of two"
            )
        shape = (count, digits)
        place = np.arange(digits) - rng.integers(0, digits - chain + 1, size=(count, 1))  # 0 where the chain begins
        first, inside = place == 0, (place > 0) & (place < chain)
        least = np.zeros(digits, dtype=np.int64)
        least[-1] = digits > 1  # no leading zeros
        a = np.where(
            first,
            rng.integers(1, 10, shape),
            np.where(inside, rng.integers(1, 9, shape), rng.integers(least, 8, shape)),
        )
        share = rng.random(shape)
        quiet = least + (share * (9 - a - least)).astype(np.int64)  # least..8-a
        b = np.where(first, 10 - a + (share * a).astype(np.int64), np.where(inside, 9 - a, quiet))
        return self.solve((a.astype(np.uint8), b.astype(np.uint8)))
