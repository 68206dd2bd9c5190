"""What stands in each column of a batch of written problems."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

CONSTANT, DIGIT, HINT = 0, 1, 2
NO_PLACE = -1

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """The columns of a batch. Arrays have the shape (1, T) when all rows agree, else (B, T).

    For 42+39=81, reversed, with room for a carry and without hints:

        text      ^  2  4  0  +  9  3  0  =  1  8  0  $
        place    -1  0  1  2 -1  0  1  2 -1  0  1  2 -1
        segment   0  0  0  0  1  1  1  1  2  2  2  2  2
        answer = 9 (the column after `=`)

    A symbol belongs to the segment that it opens. Position ids are made from this, never from text.
    """

    place: IntArray  # power of ten of a digit or hint, else NO_PLACE
    segment: IntArray  # which number: operands 0, 1, ..., then the answer
    answer: int  # first column that may hold a part of the answer

    @property
    def columns(self) -> int:
        return self.place.shape[1]


@dataclass
class Columns:
    """Collects columns from left to right."""

    hints: bool
    role: list[int] = field(default_factory=list)
    token: list[int] = field(default_factory=list)
    segment: list[int] = field(default_factory=list)
    place: list[int] = field(default_factory=list)
    answer: int = 0

    def _add(self, role: int, token: int, segment: int, place: int) -> None:
        self.role.append(role)
        self.token.append(token)
        self.segment.append(segment)
        self.place.append(place)

    def symbol(self, token: int, segment: int) -> None:
        """A column with the same token in every row."""
        self._add(CONSTANT, token, segment, NO_PLACE)

    def digit(self, segment: int, place: int) -> None:
        """The digit of one place of one number, after its hint if there are hints."""
        if self.hints:
            self._add(HINT, 0, segment, place)
        self._add(DIGIT, 0, segment, place)

    def begin_answer(self) -> None:
        """The next column is the first that the model must produce."""
        self.answer = len(self.role)

    def arrays(self) -> "ColumnArrays":
        values: list[Any] = [np.array(x, dtype=np.int64) for x in (self.role, self.token, self.segment, self.place)]
        return ColumnArrays(*values, answer=self.answer)


@dataclass(frozen=True)
class ColumnArrays:
    """`Columns` as arrays of shape (T,), ready to be filled with a batch."""

    role: IntArray
    token: IntArray
    segment: IntArray
    place: IntArray
    answer: int

    @property
    def layout(self) -> Layout:
        return Layout(self.place[None], self.segment[None], self.answer)
