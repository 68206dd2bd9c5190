"""Ids that follow the places of digits, taken from the format's layout. For 42+39=81, reversed, without offsets:

text                  ^  2  4  0  +  9  3  0  =  1  8  0  $
digit-place           0  1  2  3  0  1  2  3  0  1  2  3  0
coupled, before       0  2  3  4  1  2  3  4  1  2  3  4  0
coupled, after        0  1  2  3  4  1  2  3  4  1  2  3  4
coupled, around       0  2  3  4  5  2  3  4  1  2  3  4  5
"""

from typing import Literal

import numpy as np
from pydantic import Field

from lengthlab.formats.layout import DIGIT, IntArray, Layout
from lengthlab.positions.ids import OffsetOptions, PositionIds, draw_offsets


class DigitPlace(PositionIds):
    """Abacus (McLeish et al. 2024, arXiv:2405.17399): 1 + place + offset for digits, 0 for everything else."""

    options_class = OffsetOptions
    from_places = True
    beyond_length = True

    def __init__(self, options: OffsetOptions) -> None:
        self.options = options

    def assign(self, layout: Layout, rng: np.random.Generator, rows: int, training: bool) -> IntArray:
        offset = draw_offsets(self.options, rng, rows, training)
        return np.where(layout.role == DIGIT, layout.place + 1 + offset, 0)

    def highest(self, layout: Layout, training: bool) -> int:
        return int(layout.place.max()) + 1 + (self.options.maximum if training else 0)


class CoupledOptions(OffsetOptions):
    """Cho et al. put the symbols before the units; a relative bias does as well with them after the top place.

    What follows a digit of the answer stands one place higher in the operands. Around makes that so for all of it: the
    units stand one higher than =, and one higher than the last place stands the symbol that says that there is no more.
    """

    symbols: Literal["before", "after", "around"] = Field(
        default="before",
        description="+ and = stand one before the units, or one after the highest place; around: = before, + after",
    )


class Coupled(PositionIds):
    """Position coupling (Cho et al. 2024, arXiv:2405.20671): digits and hints of one place share an id everywhere.

    before: + and = get s, the place k gets s + 1 + k; s = 1 + offset; begin, end and padding get 0.
    after: the place k gets 1 + k + offset; +, = and the end one more than the highest; begin gets 0.
    around: = gets s, the place k gets s + 1 + k; other symbols and the end one more than the highest; begin gets 0.
    """

    options_class = CoupledOptions
    from_places = True
    beyond_length = True

    def __init__(self, options: CoupledOptions) -> None:
        self.options = options

    def assign(self, layout: Layout, rng: np.random.Generator, rows: int, training: bool) -> IntArray:
        offset = draw_offsets(self.options, rng, rows, training)
        symbols = self.options.symbols
        units = 1 if symbols == "after" else 2
        question = layout.place[:, : layout.answer]  # the answer's length must not show in the prompt
        top = question.max(axis=1, keepdims=True) + units + 1
        above = np.where(layout.separator | layout.end, top, 0)
        before = np.where(layout.separator, 1, 0)
        equals = np.arange(layout.columns) == layout.answer - 1
        others = {"before": before, "after": above, "around": np.where(equals, before, above)}[symbols]
        ids = np.where(layout.place >= 0, layout.place + units, others)
        return np.where(ids > 0, ids + offset, 0)

    def highest(self, layout: Layout, training: bool) -> int:
        highest = int(layout.place.max()) + (3 if self.options.symbols == "around" else 2)
        return highest + (self.options.maximum if training else 0)
