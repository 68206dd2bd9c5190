"""The difference of two means over seeds: its 95% interval and its p.

Intervals are Student's, over pairs of runs that share their seeds, or Welch's, over independent seeds: with five seeds
they cover about what they say. The p of independent seeds is that of a permutation test of the difference of means: if
two settings were alike, their seeds could as well change sides. It assumes nothing about how scores are spread, which a
few seeds that all fail or all succeed would strain. p is twice the smaller tail over all such arrangements. All are
counted if there are at most 200,000 (ten against ten seeds have 184,756); otherwise 99,999 are drawn.
"""

from collections.abc import Sequence
from math import comb
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from lengthlab.seeding import generator
from lengthlab.statistics.intervals import t_interval

LEVEL = 0.05  # below it, p counts as clear
LEAST_PAIRS = 6  # with five, seeds that score all or nothing all agree by chance once in sixteen times
ARRANGEMENTS = 200_000
DRAWN = 99_999
UNIT = 1e9  # scores are counted in whole billionths: their sums are exact, so ties are ties


class Difference(NamedTuple):
    """Of two means, with its 95% interval over seeds."""

    value: float
    low: float
    high: float
    p: float


def difference(a: Sequence[float], b: Sequence[float]) -> Difference:
    """Of independent seeds, at least two on each side: Welch's interval, and p of a permutation test."""
    return Difference(fmean(a) - fmean(b), *t_interval(a, b), _permutation_p(a, b))


def paired_difference(pairs: Sequence[tuple[float, float]]) -> Difference:
    """Of runs that share their seeds, at least two: Student's interval and p of the differences within pairs.

    Differences that are all the same have no spread to judge by; then p is that of their signs.
    """
    from scipy.stats import t

    gains = [a - b for a, b in pairs]
    middle, spread = fmean(gains), stdev(gains)
    if spread < 1e-12:
        p = least_p(len(gains)) if any(gains) else 1.0
    else:
        p = 2 * float(t.sf(abs(middle) * len(gains) ** 0.5 / spread, len(gains) - 1))
    return Difference(middle, *t_interval(gains), p)


def least_p(a: int, b: int | None = None) -> float:
    """The smallest p that exchanges can give: of the scores in `a` pairs, or of `a` seeds with `b` others.

    >>> least_p(6), round(least_p(5, 5), 4)
    (0.03125, 0.0079)
    """
    if min(a, a if b is None else b) < 2:
        return 1.0  # one seed says nothing about what others would score
    arrangements = 2**a if b is None else comb(a + b, a)
    return 2 / (arrangements if arrangements <= ARRANGEMENTS else DRAWN + 1)


def _permutation_p(a: Sequence[float], b: Sequence[float]) -> float:
    """p under exchanges of seeds between the groups."""
    from scipy.stats import permutation_test

    samples = sorted([sorted(a), sorted(b)])  # exchanging the groups must not change what is drawn
    weights = len(samples[1]), len(samples[0])

    def statistic(first: np.ndarray, second: np.ndarray, axis: int) -> np.ndarray:
        return weights[0] * first.sum(axis=axis) - weights[1] * second.sum(axis=axis)

    everything = comb(len(a) + len(b), len(a))
    result = permutation_test(
        [np.round(np.asarray(sample, dtype=float) * UNIT) for sample in samples],
        statistic,
        permutation_type="independent",
        vectorized=True,
        n_resamples=everything if everything <= ARRANGEMENTS else DRAWN,
        batch=10_000,
        rng=generator(0, "permutation"),
    )
    return float(result.pvalue)
