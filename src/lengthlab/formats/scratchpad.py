"""A scratchpad, digit by digit: every digit of the answer is followed by the carry that it hands on.

42 + 39 = 81     reversed   ^240+930=1/18/00/0$      with hints   ^a2b4c0+a9b3c0=a1/1b8/0c0/0$
"""

from collections.abc import Sequence

from lengthlab.formats.equation import Equation
from lengthlab.formats.layout import Columns
from lengthlab.formats.vocabulary import END, PAD, SPACE


class Scratchpad(Equation):
    """The equation, with `/carry` after each digit of the answer."""

    symbols = ("/",)

    def refusal(self) -> str | None:
        if not self.task.has_carries:
            return "kind: a scratchpad writes carries, which this task does not have; use equation"
        if self.options.order == "standard":
            return "order: carries are known from the units up; use reversed or answer-reversed"
        if self.options.spaces.probability and self.options.spaces.within == "all":
            return "spaces.within: a scratchpad has no gaps between the digits of its answer; use question"
        return None

    def arrange_answer(self, columns: Columns, segment: int, width: int) -> None:
        for place in self.answer_places(width):
            columns.digit(segment, place)
            columns.mark(self.vocabulary["/"], segment, place)
            columns.bare_digit(segment + 1, place)

    def read_answer(self, tokens: Sequence[int]) -> str | None:
        produced = [token for token in tokens if token not in (SPACE, PAD)]
        if END not in produced:
            return None
        produced = produced[: produced.index(END)]
        each = 4 if self.options.hints else 3  # hint, digit, slash, carry
        groups = [produced[start : start + each] for start in range(0, len(produced), each)]
        if any(len(group) != each or group[-2] != self.vocabulary["/"] or not 0 <= group[-1] <= 9 for group in groups):
            return None
        return self.number([token for group in groups for token in group[:-2]], units_first=True)
