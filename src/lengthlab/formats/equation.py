"""The plain equation.

42 + 39 = 81     standard   ^042+039=081$      with hints   ^a0b4c2+a0b3c9=a0b8c1$
                 reversed   ^240+930=180$      with hints   ^a2b4c0+a9b3c0=a1b8c0$
"""

from collections.abc import Sequence

from lengthlab.formats.format import Format, Reading
from lengthlab.formats.layout import Columns
from lengthlab.formats.vocabulary import BEGIN, END, PAD


class Equation(Format):
    """All operands one after the other, then the answer."""

    def arrange(self, columns: Columns, operands: tuple[int, ...], answer: int) -> None:
        for segment, width in enumerate(operands):
            columns.symbol(self.task_symbol if segment else BEGIN, segment)
            for place in self.places(width):
                columns.digit(segment, place)
        columns.symbol(self.equals, len(operands))
        columns.begin_answer()
        for place in self.places(answer):
            columns.digit(len(operands), place)
        columns.symbol(END, len(operands))

    def read(self, tokens: Sequence[int]) -> Reading | None:
        row = [token for token in tokens if token != PAD]
        if not row or row[0] != BEGIN or row.count(self.equals) != 1:
            return None
        equals = row.index(self.equals)
        operands = [self.number(part) for part in _split(row[1:equals], self.task_symbol)]
        answer = self.read_answer(row[equals + 1 :])
        if answer is None or any(operand is None for operand in operands):
            return None
        return Reading(tuple(operand for operand in operands if operand is not None), answer)


def _split(tokens: list[int], separator: int) -> list[list[int]]:
    parts: list[list[int]] = [[]]
    for token in tokens:
        if token == separator:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
