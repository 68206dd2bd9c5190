"""Sums written by a real format, answered right, for tests to spoil."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from lengthlab.analysis.verdicts import Attempts, attempts_of
from lengthlab.batches import Pipeline
from lengthlab.config.load import load_config


@pytest.fixture
def pipeline() -> Callable[..., Pipeline]:
    """The pipeline of the smoke recipe with overrides."""
    return lambda *overrides: Pipeline(load_config("smoke", overrides))


@pytest.fixture
def answered() -> Callable[[Pipeline, Sequence[tuple[int, int]], int], Attempts]:
    """Sums with right answers; operands are written with `digits` digits."""

    def answer(pipeline: Pipeline, sums: Sequence[tuple[int, int]], digits: int) -> Attempts:
        operands = tuple(
            np.array([[int(d) for d in f"{pair[side]:0{digits}d}"[::-1]] for pair in sums], dtype=np.uint8)
            for side in (0, 1)
        )
        batch = pipeline.question(operands)
        return attempts_of(digits, pipeline.task.solve(operands), batch, batch.targets.clone())

    return answer
