"""A finite training set: as many problems of each length as its size says, gone through again and again.

    data seed  -> which problems there are      order seed -> in which order each pass meets them

Nothing is stored. The problems of a length come in blocks of 16, each from a generator of its own; a pass is a shuffle
of the blocks. What comes next depends on the seeds and on how many of its length have been seen, and on nothing else.
"""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lengthlab.seeding import generator
from lengthlab.tasks.task import Problems, Task

BLOCK = 16


class TrainingSet:
    """Problems of a task by length; `share` says which share of the set each length has."""

    def __init__(self, task: Task, examples: int, share: Mapping[int, float], data: int, order: int) -> None:
        self.task = task
        self.data, self.order = data, order
        self.blocks = {digits: max(1, round(examples * part / BLOCK)) for digits, part in share.items()}

    def problems(self, digits: int, seen: int, count: int) -> Problems:
        """The next `count` problems of a length, after `seen` of them."""
        parts: list[Problems] = []
        while count:
            place, start = divmod(seen, BLOCK)
            number, index = divmod(place, self.blocks[digits])
            block = _shuffled(self.blocks[digits], self.order, digits, number)[index]
            drawn = self.task.draw(generator(self.data, "training set", digits, int(block)), digits, BLOCK)
            taken = min(count, BLOCK - start)
            parts.append(drawn.rows(start, start + taken))
            seen, count = seen + taken, count - taken
        return join_problems(parts)


@lru_cache(maxsize=256)
def _shuffled(blocks: int, seed: int, digits: int, number: int) -> NDArray[np.int64]:
    """The order of a length's blocks in a pass."""
    return generator(seed, "training order", digits, number).permutation(blocks)


def join_problems(parts: list[Problems]) -> Problems:
    """Problems of the same shapes as one batch."""
    if len(parts) == 1:
        return parts[0]
    operands = tuple(np.concatenate(operand) for operand in zip(*(part.operands for part in parts), strict=True))
    carries = [part.carries for part in parts if part.carries is not None]
    answer = np.concatenate([part.answer for part in parts])
    return Problems(operands, answer, np.concatenate(carries) if carries else None)
