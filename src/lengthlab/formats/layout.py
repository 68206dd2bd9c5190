"""What stands in each column of a batch of written problems."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

BEGINNING, SEPARATOR, DIGIT, HINT, ENDING, FILLER = range(6)  # roles; a filler is a space or padding
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

    role: IntArray
    place: IntArray  # power of ten of a digit or hint, else NO_PLACE
    segment: IntArray  # which number: operands 0, 1, ..., then the answer, then its carries
    answer: int  # first column of the answer

    @property
    def columns(self) -> int:
        return self.place.shape[1]

    @property
    def separator(self) -> NDArray[np.bool_]:
        return self.role == SEPARATOR

    @property
    def end(self) -> NDArray[np.bool_]:
        return self.role == ENDING

    def rows(self, start: int, stop: int) -> "Layout":
        """The layout of the rows start..stop-1."""
        if len(self.place) == 1:
            return self
        return Layout(self.role[start:stop], self.place[start:stop], self.segment[start:stop], self.answer)

    def gather(self, order: IntArray, answer: int) -> "Layout":
        """The columns in another order for each row, (B, T')."""

        def take(values: IntArray) -> IntArray:
            return np.take_along_axis(np.broadcast_to(values, (len(order), self.columns)), order, axis=1)

        return Layout(take(self.role), take(self.place), take(self.segment), answer)


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

    def begin(self, token: int) -> None:
        self._add(BEGINNING, token, 0, NO_PLACE)

    def symbol(self, token: int, segment: int) -> None:
        """A separator: the same token in every row."""
        self._add(SEPARATOR, token, segment, NO_PLACE)

    def mark(self, token: int, segment: int, place: int) -> None:
        """A separator that belongs to one place of a number."""
        self._add(SEPARATOR, token, segment, place)

    def hint(self, segment: int, place: int) -> None:
        """The hint of a place, if there are hints."""
        if self.hints:
            self._add(HINT, 0, segment, place)

    def digit(self, segment: int, place: int) -> None:
        """The digit of one place of one number, after its hint if there are hints."""
        self.hint(segment, place)
        self.bare_digit(segment, place)

    def bare_digit(self, segment: int, place: int) -> None:
        self._add(DIGIT, 0, segment, place)

    def begin_answer(self) -> None:
        """The next column is the first that the model must produce."""
        self.answer = len(self.role)

    def end(self, token: int, segment: int) -> None:
        self._add(ENDING, token, segment, NO_PLACE)

    def finished(self) -> tuple[IntArray, Layout]:
        """The constant tokens (T,) and the layout of what was collected."""
        token, role, place, segment = (
            np.array(values, dtype=np.int64) for values in (self.token, self.role, self.place, self.segment)
        )
        return token, Layout(role[None], place[None], segment[None], self.answer)
