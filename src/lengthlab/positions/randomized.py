"""Randomized positions (Ruoss et al. 2023): the order of the tokens is kept, the distances are not.

    T = 5, maximum = 16, one draw:   0  3  4  9  15

A model trained with them has met every id below `maximum`, however short its training sequences.
"""

import numpy as np
from pydantic import Field

from lengthlab.config.sections import Options
from lengthlab.formats.layout import IntArray, Layout
from lengthlab.positions.ids import Per, PositionIds


class RandomizedOptions(Options):
    """The paper leaves these open; Ruoss et al. draw below 2,048, once for a batch, at test too."""

    maximum: int = Field(default=2048, ge=2, le=1_000_000, description="ids are drawn from 0 to maximum - 1")
    per: Per = Field(default="batch", description="one draw for a batch, or one for each sequence")
    late: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="if not 0, training starts with 0, 1, 2, ...; once the full length is reached, ids spread out over "
        "this share of the steps",
    )
    at_test: bool = Field(default=True, description="draw at test too; otherwise 0, 1, 2, ... at test")


class Randomized(PositionIds):
    """A sorted sample without replacement from 0..maximum-1, one draw for all layers.

    Spread-out ids blur "the token before", which slows take-off. With `late` a draw in training comes from 0..n-1, n
    uniform between the number of tokens and a limit that grows to `maximum`.
    """

    options_class = RandomizedOptions
    beyond_length = True

    def __init__(self, options: RandomizedOptions, spread: float = 1.0) -> None:
        self.options = options
        self.spread = spread  # how far the ids of training have spread out, from 0 to 1, if they do so late

    @property
    def drawn_per_row(self) -> int:
        return self.options.maximum if self.options.per == "sequence" else 0

    def settled(self, share: float) -> "Randomized":
        late = self.options.late
        return Randomized(self.options, min(1.0, share / late)) if late else self

    def assign(self, layout: Layout, rng: np.random.Generator, rows: int, training: bool) -> IntArray:
        if not training and not self.options.at_test:
            return np.arange(layout.columns, dtype=np.int64)[None]
        draws = rows if self.options.per == "sequence" else 1
        below = self.options.maximum
        if training and self.options.late:
            below = layout.columns + int((below - layout.columns) * self.spread * rng.random())
        keys = rng.random((draws, below))
        chosen = np.argpartition(keys, layout.columns - 1, axis=1)[:, : layout.columns]
        return np.sort(chosen, axis=1).astype(np.int64)

    def highest(self, layout: Layout, training: bool) -> int:
        return self.options.maximum - 1 if training or self.options.at_test else layout.columns - 1

    def refusal(self, layout: Layout) -> str | None:
        if layout.columns > self.options.maximum:
            return f"maximum: {self.options.maximum} ids are too few; {layout.columns} tokens need at least as many"
        return None
