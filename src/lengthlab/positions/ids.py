"""What a scheme of position ids is."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from lengthlab.formats.layout import IntArray, Layout
from lengthlab.options import Options


class PositionIds(ABC):
    """Gives every column of a layout an id."""

    options_class: ClassVar[type[Options]]

    @abstractmethod
    def assign(self, layout: Layout, rng: np.random.Generator, rows: int, training: bool) -> IntArray:
        """Ids of shape (1, T), shared by all rows, or (rows, T). All rows sharing them is much cheaper."""

    def refusal(self, layout: Layout) -> str | None:
        """Why this layout cannot have ids, as "option: reason", or None if it can."""
        return None
