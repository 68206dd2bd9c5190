"""The plain equation.

42 + 39 = 81     standard          ^042+039=081$      with hints   ^a0b4c2+a0b3c9=a0b8c1$
                 reversed          ^240+930=180$      with hints   ^a2b4c0+a9b3c0=a1b8c0$
                 answer-reversed   ^042+039=180$      with hints   ^a0b4c2+a0b3c9=c1b8a0$
"""

from collections.abc import Sequence

from lengthlab.formats.format import Format, split
from lengthlab.formats.layout import Columns
from lengthlab.formats.vocabulary import BEGIN, END


class Equation(Format):
    """All operands one after the other, then the answer."""

    def arrange(self, columns: Columns, operands: tuple[int, ...], answer: int) -> None:
        columns.begin(BEGIN)
        for segment, width in enumerate(operands):
            if segment:
                columns.symbol(self.vocabulary[self.task.symbol], segment)
            for place in self.operand_places(width):
                columns.digit(segment, place)
        columns.symbol(self.equals, len(operands))
        columns.begin_answer()
        self.arrange_answer(columns, len(operands), answer)
        columns.end(END, len(operands))

    def arrange_answer(self, columns: Columns, segment: int, width: int) -> None:
        """The columns of the answer itself."""
        for place in self.answer_places(width):
            columns.digit(segment, place)

    def read_operands(self, tokens: Sequence[int]) -> tuple[str | None, ...]:
        parts = split(tokens, self.vocabulary[self.task.symbol]) if self.task.symbol else [list(tokens)]
        return tuple(self.number(part, self.options.order == "reversed") for part in parts)
