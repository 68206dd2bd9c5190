"""What a scheme of position ids is."""

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from lengthlab.config.sections import Options
from lengthlab.formats.layout import IntArray, Layout

Per = Literal["batch", "sequence"]


class PositionIds(ABC):
    """Gives every column of a layout an id."""

    options_class: ClassVar[type[Options]]
    from_places: ClassVar[bool] = False  # whether ids follow the places of digits, which only code knows
    beyond_length: ClassVar[bool] = False  # whether training gives ids that only longer problems need

    @abstractmethod
    def assign(self, layout: Layout, rng: np.random.Generator, rows: int, training: bool) -> IntArray:
        """Ids of shape (1, T), shared by all rows, or (rows, T). All rows sharing them is much cheaper."""

    @abstractmethod
    def highest(self, layout: Layout, training: bool) -> int:
        """The highest id that `assign` may give to this layout."""

    @property
    def drawn_per_row(self) -> int:
        """How many random numbers each row of a batch needs at once, if they are many."""
        return 0

    def settled(self, share: float) -> "PositionIds":
        """The scheme to train with when the full length has been trained on for this share of all steps."""
        return self

    def refusal(self, layout: Layout) -> str | None:
        """Why this layout cannot have ids, as "option: reason", or None if it can."""
        return None


class OffsetOptions(Options):
    """A random shift of all ids in training lets a table learn rows that only longer inputs reach; 0 at test."""

    maximum: int = Field(
        default=100, ge=0, le=10**9, description="training offsets are uniform in 0..maximum; 0 for none"
    )
    per: Per = Field(default="batch", description="one offset for a batch, or one for each sequence")


def draw_offsets(options: OffsetOptions, rng: np.random.Generator, rows: int, training: bool) -> IntArray:
    """Offsets (1, 1) or (rows, 1); 0 at test."""
    count = rows if options.per == "sequence" else 1
    if not training or options.maximum == 0:
        return np.zeros((1, 1), dtype=np.int64)
    return rng.integers(0, options.maximum + 1, size=(count, 1))
