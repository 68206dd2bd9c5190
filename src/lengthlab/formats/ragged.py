"""What makes the rows of a batch differ: leading zeros left out, spaces dropped in."""

import numpy as np

from lengthlab.formats.layout import DIGIT, ENDING, FILLER, HINT, NO_PLACE, IntArray, Layout
from lengthlab.formats.vocabulary import PAD, SPACE
from lengthlab.tasks.task import Problems


def without_leading_zeros(tokens: IntArray, layout: Layout, problems: Problems) -> tuple[IntArray, Layout]:
    """Drop the answer's leading zeros and close the gaps; rows then end in padding."""
    significant = np.maximum.accumulate(problems.answer[:, ::-1] > 0, axis=1)[:, ::-1]
    significant[:, 0] = True  # the number zero keeps one digit
    place = layout.place[0]
    of_answer = (np.arange(layout.columns) >= layout.answer) & (place != NO_PLACE)
    dropped = np.zeros(tokens.shape, dtype=bool)
    dropped[:, of_answer] = ~significant[:, place[of_answer]]
    order = np.argsort(dropped, axis=1, kind="stable")  # what is dropped goes to the end
    gathered = layout.gather(order, layout.answer)
    filler = np.take_along_axis(dropped, order, axis=1)
    shortened = Layout(
        np.where(filler, FILLER, gathered.role),
        np.where(filler, NO_PLACE, gathered.place),
        np.where(filler, len(problems.operands), gathered.segment),
        layout.answer,
    )
    return np.where(filler, PAD, np.take_along_axis(tokens, order, axis=1)), shortened


def insert_spaces(
    tokens: IntArray, layout: Layout, rng: np.random.Generator, probability: float, in_answer: bool
) -> tuple[IntArray, Layout]:
    """Drop spaces into gaps between digits, each gap with `probability`.

    How many there are is drawn once for the batch, where they stand for each row: so each row is distributed as if its
    gaps were drawn one by one, and yet all rows stay equally long and begin their answer in the same column.
    """
    rows, columns = tokens.shape
    where = np.arange(columns)
    opens = (layout.role == HINT) | ((layout.role == DIGIT) & np.roll(layout.role != HINT, 1, axis=1))
    gap = opens & (np.roll(layout.segment, 1, axis=1) == layout.segment) & np.roll(layout.place != NO_PLACE, 1, axis=1)
    gap = np.broadcast_to(gap, tokens.shape)
    question = _choose(gap & (where < layout.answer), rng, probability)
    chosen = [question]
    if in_answer:
        chosen.append(_choose(gap & (where >= layout.answer) & (layout.role != ENDING), rng, probability))
    spaces = np.concatenate(chosen, axis=1)  # (rows, spaces): each stands before this column
    keys = np.concatenate([np.broadcast_to(2 * where, (rows, columns)), 2 * spaces - 1], axis=1)
    order = np.argsort(keys, axis=1, kind="stable")
    count = spaces.shape[1]

    def widen(values: IntArray, fill: int) -> IntArray:
        return np.concatenate([np.broadcast_to(values, (rows, columns)), np.full((rows, count), fill)], axis=1)

    widened = Layout(
        widen(layout.role, FILLER),
        widen(layout.place, NO_PLACE),
        np.concatenate([np.broadcast_to(layout.segment, (rows, columns)), _at(layout.segment, spaces)], axis=1),
        layout.answer,
    )
    answer = layout.answer + question.shape[1]
    return np.take_along_axis(widen(tokens, SPACE), order, axis=1), widened.gather(order, answer)


def _choose(gaps: np.ndarray, rng: np.random.Generator, probability: float) -> IntArray:
    """Columns of randomly chosen gaps: (rows, count), the count drawn once; each row has at least that many gaps."""
    count = int(rng.binomial(gaps.sum(axis=1).min(), probability))
    keys = np.where(gaps, rng.random(gaps.shape), 2.0)  # gaps first, in random order
    return np.sort(np.argsort(keys, axis=1)[:, :count], axis=1)


def _at(values: IntArray, columns: IntArray) -> IntArray:
    return np.take_along_axis(np.broadcast_to(values, (len(columns), values.shape[1])), columns, axis=1)
