"""Sequential ids: the column's number."""

import numpy as np

from lengthlab.formats.layout import IntArray, Layout
from lengthlab.options import Options
from lengthlab.positions.ids import PositionIds


class SequentialOptions(Options):
    """Sequential ids have nothing to choose."""


class Sequential(PositionIds):
    """0, 1, 2, ..., T-1."""

    options_class = SequentialOptions

    def __init__(self, options: SequentialOptions) -> None:
        self.options = options

    def assign(self, layout: Layout, rng: np.random.Generator, rows: int, training: bool) -> IntArray:
        return np.arange(layout.columns, dtype=np.int64)[None]
