"""Intervals: of a share of examples (Wilson), of a mean over seeds and of a difference of means (bootstrap)."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from lengthlab.seeding import generator

RESAMPLES = 9_999


def wilson(correct: float, examples: int, z: float = 1.959964) -> tuple[float, float]:
    """The Wilson interval of a share (Wilson 1927), 95% by default."""
    share = correct / examples
    centre = share + z * z / (2 * examples)
    spread = z * sqrt(share * (1 - share) / examples + z * z / (4 * examples * examples))
    scale = 1 + z * z / examples
    low = 0.0 if correct == 0 else (centre - spread) / scale
    high = 1.0 if correct == examples else (centre + spread) / scale
    return low, high


def bootstrap_interval(
    values: Sequence[float], minus: Sequence[float] | None = None, level: float = 0.95, seed: int = 0
) -> tuple[float, float] | None:
    """The percentile bootstrap interval of the mean of `values`, less the mean of the independent `minus` if given.

    Values are sorted first, so that their order does not matter. A single value says nothing of its spread: None.
    With fewer than about ten seeds such an interval is somewhat too narrow; no resampling can see a value that never
    came up.
    """
    samples = [np.sort(np.asarray(sample, dtype=float)) for sample in (values, minus) if sample is not None]
    if min(map(len, samples)) < 2:
        return None
    from scipy.stats import bootstrap

    def statistic(first: np.ndarray, second: np.ndarray | None = None, axis: int = -1) -> np.ndarray:
        mean = first.mean(axis=axis)
        return mean if second is None else mean - second.mean(axis=axis)

    interval = bootstrap(
        samples,
        statistic,
        n_resamples=RESAMPLES,
        confidence_level=level,
        method="percentile",
        vectorized=True,
        rng=generator(seed, "bootstrap"),
    ).confidence_interval
    return float(interval.low), float(interval.high)
