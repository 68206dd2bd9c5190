"""Ids that count the columns, from 0 or from a random offset."""

import numpy as np

from lengthlab.config.sections import Options
from lengthlab.formats.layout import IntArray, Layout
from lengthlab.positions.ids import OffsetOptions, PositionIds, draw_offsets


class SequentialOptions(Options):
    """Sequential ids have nothing to choose."""


class Sequential(PositionIds):
    """0, 1, 2, ..., T-1."""

    options_class = SequentialOptions

    def __init__(self, options: SequentialOptions) -> None:
        self.options = options

    def assign(self, layout: Layout, rng: np.random.Generator, rows: int, training: bool) -> IntArray:
        return np.arange(layout.columns, dtype=np.int64)[None]

    def highest(self, layout: Layout, training: bool) -> int:
        return layout.columns - 1


class Offset(PositionIds):
    """k, k+1, ..., k+T-1 with k uniform in 0..maximum in training, 0 at test."""

    options_class = OffsetOptions
    beyond_length = True

    def __init__(self, options: OffsetOptions) -> None:
        self.options = options

    def assign(self, layout: Layout, rng: np.random.Generator, rows: int, training: bool) -> IntArray:
        return np.arange(layout.columns, dtype=np.int64)[None] + draw_offsets(self.options, rng, rows, training)

    def highest(self, layout: Layout, training: bool) -> int:
        return layout.columns - 1 + (self.options.maximum if training else 0)
