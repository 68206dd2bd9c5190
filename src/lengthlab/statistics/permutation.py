"""Permutation tests of a difference of means.

If two settings were alike, their seeds could as well change sides, or, for pairs, the two scores of a seed. p is twice
the smaller tail over all such arrangements. All are counted if there are at most 200,000 (ten against ten seeds have
184,756), so that p is exact; otherwise 99,999 are drawn.
"""

from collections.abc import Callable, Sequence
from math import comb
from typing import Literal

import numpy as np

from lengthlab.seeding import generator

ARRANGEMENTS = 200_000
DRAWN = 99_999
UNIT = 1e9  # scores are counted in whole billionths: their sums are exact, so ties are ties
Kind = Literal["independent", "samples"]  # what is exchanged: seeds between groups, or signs of differences


def labels_test(a: Sequence[float], b: Sequence[float], seed: int) -> tuple[float, bool, float]:
    """p under exchanges of seeds between the groups, whether it is exact, and the least p there could be."""
    weights = len(b), len(a)

    def statistic(first: np.ndarray, second: np.ndarray, axis: int) -> np.ndarray:
        return weights[0] * first.sum(axis=axis) - weights[1] * second.sum(axis=axis)

    return _permuted([_whole(a), _whole(b)], statistic, "independent", comb(len(a) + len(b), len(a)), seed)


def signs_test(pairs: Sequence[tuple[float, float]], seed: int) -> tuple[float, bool, float]:
    """The same under exchanges of the two scores within a pair."""
    gains = np.sort(_whole([x for x, _ in pairs]) - _whole([y for _, y in pairs]))

    def statistic(values: np.ndarray, axis: int) -> np.ndarray:
        return values.sum(axis=axis)

    return _permuted([gains], statistic, "samples", 2 ** len(pairs), seed)


def _permuted(
    samples: list[np.ndarray], statistic: Callable[..., np.ndarray], kind: Kind, all_of_them: int, seed: int
) -> tuple[float, bool, float]:
    if min(map(len, samples)) < 2:
        return 1.0, True, 1.0  # a single seed tells nothing of what others would score
    from scipy.stats import permutation_test

    exact = all_of_them <= ARRANGEMENTS
    count = all_of_them if exact else DRAWN
    rng = generator(seed, "permutation")
    result = permutation_test(
        samples, statistic, permutation_type=kind, vectorized=True, n_resamples=count, batch=10_000, rng=rng
    )
    return float(result.pvalue), exact, min(1.0, 2 / (all_of_them if exact else DRAWN + 1))


def _whole(scores: Sequence[float]) -> np.ndarray:
    return np.round(np.asarray(scores, dtype=float) * UNIT)
