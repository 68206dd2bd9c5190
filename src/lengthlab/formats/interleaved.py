"""Interleaved operands (tried in the paper): the digits of one place side by side.

42 + 39 = 81     reversed   ^29,43,00=180$      with hints   ^a2a9,b4b3,c0c0=a1b8c0$
"""

from collections.abc import Sequence

from lengthlab.formats.format import Format, split
from lengthlab.formats.layout import Columns
from lengthlab.formats.vocabulary import BEGIN, END


class Interleaved(Format):
    """A1B1,A2B2,A3B3=C1C2C3. All operands are written with the places of the longest."""

    symbols = (",",)

    def refusal(self) -> str | None:
        if self.task.operands < 2:
            return "kind: interleaving needs at least two operands; use equation"
        if self.options.spaces.probability:
            return "spaces.probability: interleaved operands have no gaps between their digits; use 0, or equation"
        return None

    def arrange(self, columns: Columns, operands: tuple[int, ...], answer: int) -> None:
        columns.begin(BEGIN)
        for index, place in enumerate(self.operand_places(max(operands))):
            if index:
                columns.symbol(self.vocabulary[","], 0)
            for segment in range(len(operands)):
                columns.digit(segment, place)
        columns.symbol(self.equals, len(operands))
        columns.begin_answer()
        for place in self.answer_places(answer):
            columns.digit(len(operands), place)
        columns.end(END, len(operands))

    def read_operands(self, tokens: Sequence[int]) -> tuple[str | None, ...]:
        each = 2 if self.options.hints else 1  # tokens for each digit
        groups = split(tokens, self.vocabulary[","])
        count = len(groups[0]) // each
        if any(len(group) != count * each for group in groups):
            return (None,)
        numbers = [[token for group in groups for token in group[i * each : (i + 1) * each]] for i in range(count)]
        return tuple(self.number(number, self.options.order == "reversed") for number in numbers)
