"""From numbers over seeds to findings: intervals against bounds, trends. Nothing here knows of tables.

`power` tries the rules on seeds whose difference is known, to say how many seeds decide which difference. Two settings
whose scores spread by 1 over seeds, normally, lie so far apart that the rule for claims of the kind `better` finds it
in four cases of five. Real scores are shares of other shapes; the table is a guide for planning.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lengthlab.paper.claim import Finding
from lengthlab.seeding import generator
from lengthlab.statistics.difference import LEAST_PAIRS, LEVEL, difference, paired_difference

LEAST_SEEDS = 4  # on each side: three against three cannot give p < 0.05, whatever they score
RESAMPLES = 9_999
Array = NDArray[np.float64]


def above(low: float, high: float, threshold: float) -> Finding:
    """Whether an interval lies above a threshold."""
    return "holds" if low > threshold else "does not hold" if high < threshold else "not enough evidence"


def between(low: float, high: float, at_least: float | None, at_most: float | None) -> Finding:
    """Whether an interval lies between two bounds."""
    lowest = float("-inf") if at_least is None else at_least
    highest = float("inf") if at_most is None else at_most
    if lowest <= low and high <= highest:
        return "holds"
    return "does not hold" if high < lowest or low > highest else "not enough evidence"


def rank_correlation(numbers: Sequence[float], groups: Sequence[Array]) -> Array:
    """Spearman's, of a number for each group with its values (R, n): (R,). Ties have their mean rank; 0 if all tie."""
    from scipy.stats import rankdata

    at = np.concatenate([np.full(group.shape[1], number) for number, group in zip(numbers, groups, strict=True)])
    x, y = rankdata(at), rankdata(np.concatenate(groups, axis=1), axis=1)
    x, y = x - x.mean(), y - y.mean(axis=1, keepdims=True)
    scale = np.sqrt((x**2).sum() * (y**2).sum(axis=1))
    return np.where(scale > 0, (y @ x) / np.maximum(scale, 1e-12), 0.0)


def resampled(
    groups: Sequence[Sequence[float]], statistic: Callable[[Sequence[Array]], Array]
) -> tuple[float, float, float]:
    """A statistic with its 95% percentile bootstrap interval, seeds drawn anew within each group."""
    rng = generator(0, "claims")
    arrays = [np.sort(np.asarray(group, dtype=float)) for group in groups]
    drawn = [array[rng.integers(0, len(array), (RESAMPLES, len(array)))] for array in arrays]
    low, high = np.quantile(statistic(drawn), [0.025, 0.975])
    return float(statistic([array[None] for array in arrays])[0]), float(low), float(high)


SEEDS = (LEAST_SEEDS, 5, LEAST_PAIRS, 8, 10, 30)
CORRELATIONS = (0.0, 0.5, 0.8)  # between the two runs of a pair
DRAWN = 100
FOUND = 0.8
PRECISION = 0.1  # in units of the spread


@dataclass(frozen=True)
class Power:
    """The smallest difference that so many seeds of each setting find in four cases of five, for a spread of 1."""

    seeds: int
    paired: bool
    correlation: float  # between the two runs of a pair
    difference: float

    def cells(self, spreads: Sequence[str]) -> list[str]:
        """A row of a table, with the difference at each spread in points of a share."""
        compared = "seed by seed" if self.paired else "as independent"
        found = [f"{min(1.0, self.difference * float(spread)):.2f}" for spread in spreads]
        return [str(self.seeds), compared, f"{self.correlation:g}" if self.paired else "any", *found]


def power() -> list[Power]:
    """For each number of seeds; pairs also by how strongly they are correlated."""
    rows = []
    for seeds in SEEDS:
        paired = seeds >= LEAST_PAIRS
        for correlation in CORRELATIONS if paired else CORRELATIONS[:1]:
            needed = [_needed(seeds, correlation, draw, paired) for draw in range(DRAWN)]
            rows.append(Power(seeds, paired, correlation, float(np.quantile(needed, FOUND))))
    return rows


def _needed(seeds: int, correlation: float, draw: int, paired: bool) -> float:
    """By how much the first setting has to be better for one draw of seeds to show it."""
    rng = generator(draw, "power", seeds)
    common, own = rng.normal(size=(seeds, 1)), rng.normal(size=(seeds, 2))
    a, b = (correlation**0.5 * common + (1 - correlation) ** 0.5 * own).T.tolist()
    if paired:
        return -paired_difference(list(zip(a, b, strict=True))).low  # a shift of one side shifts the interval
    least = -difference(a, b).low
    most = max(least, max(b) - min(a)) + PRECISION  # all of a above all of b: no arrangement is as far apart
    while most - least > PRECISION:
        middle = (least + most) / 2
        found = difference([value + middle for value in a], b)
        least, most = (least, middle) if found.p < LEVEL and found.low > 0 else (middle, most)
    return most
