"""Two settings against each other over their seeds, summed up in a plain sentence.

p is that of a permutation test of the difference of means: if two settings were alike, their seeds could as well change
sides, or, for pairs, the two scores of a seed. p is twice the smaller tail over all such arrangements. All are counted
if there are at most 200,000 (ten against ten seeds have 184,756), so that p is exact; otherwise 99,999 are drawn.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from statistics import fmean, median
from typing import Any, Literal

import numpy as np

from lengthlab.seeding import generator
from lengthlab.statistics.intervals import bootstrap_interval
from lengthlab.statistics.seeds import percent


@dataclass(frozen=True)
class Comparison:
    """a against b: every difference is a's less b's."""

    names: tuple[str, str]
    n: tuple[int, int]
    paired: bool
    means: tuple[float, float]
    medians: tuple[float, float]
    difference: float  # of the means
    interval: tuple[float, float] | None  # 95% bootstrap interval of the difference; None with a single seed
    delta: float  # Cliff's delta: share of the pairs (all, or those of one seed) that a wins, less those that b wins
    p: float
    exact: bool  # whether all arrangements were counted
    least_p: float  # the smallest p that so many seeds could give
    where: str = ""  # such as "at 12 digits"
    level: float = 0.05

    @property
    def superiority(self) -> float:
        """Share of the pairs that a wins; a draw counts half."""
        return (1 + self.delta) / 2

    @property
    def clear(self) -> bool:
        return self.p < self.level

    @property
    def sentence(self) -> str:
        """The result in words; a clear winner is named first."""
        ours = self if self.difference >= 0 or not self.clear else self.flipped()
        first, second = ours.names
        beats = f"{first} beats {second}" if self.clear else f"No clear difference between {first} and {second}"
        details = [f"difference {_points(ours.difference)}"]
        if ours.interval:
            details.append(f"95% interval {_number(ours.interval[0])} to {_number(ours.interval[1])}")
        kind = f"{'exact ' if self.exact else ''}{'paired ' if self.paired else ''}permutation test"
        sentences = [
            f"{beats}{f' {self.where}' if self.where else ''}: {percent(ours.means[0])} against "
            f"{percent(ours.means[1])} in the mean over {self._seeds()} "
            f"({', '.join(details)}; {kind}, p {_p(self.p)}).",
            f"The medians differ by {_points(abs(ours.medians[0] - ours.medians[1]))}; "
            f"{first} wins {percent(ours.superiority)} of {'the pairs' if self.paired else 'all pairs of seeds'}.",
        ]
        if self.least_p >= self.level:
            least = f"With so few seeds p cannot be below {self.least_p:.2g}, whatever they score"
            sentences.append(f"{least}: train more to find out.")
        return " ".join(sentences)

    def _seeds(self) -> str:
        a, b = self.n
        if a != b:
            return f"{a} and {b} seeds"
        return f"{a} seed{'s' if a > 1 else ''}{', paired' if self.paired else ' each'}"

    def flipped(self) -> "Comparison":
        """b against a."""
        return replace(
            self,
            names=(self.names[1], self.names[0]),
            n=(self.n[1], self.n[0]),
            means=(self.means[1], self.means[0]),
            medians=(self.medians[1], self.medians[0]),
            difference=-self.difference,
            interval=self.interval and (-self.interval[1], -self.interval[0]),
            delta=-self.delta,
        )

    def as_dict(self) -> dict[str, Any]:
        low, high = self.interval or (None, None)
        return {
            "names": list(self.names),
            "n": list(self.n),
            "paired": self.paired,
            "means": list(self.means),
            "medians": list(self.medians),
            "difference": self.difference,
            "low": low,
            "high": high,
            "cliffs_delta": self.delta,
            "superiority": self.superiority,
            "p": self.p,
            "exact": self.exact,
            "least_p": self.least_p,
            "clear": self.clear,
        }


def compare(
    a: Mapping[str, float],
    b: Mapping[str, float],
    paired: bool = False,
    names: tuple[str, str] = ("A", "B"),
    where: str = "",
    level: float = 0.05,
    seed: int = 0,
) -> Comparison:
    """Compare {seed: score} of two settings; `paired` needs the same seeds in both; `seed` is for the resampling."""
    if not a or not b:
        raise ValueError("a comparison needs at least one seed of each")
    if paired and a.keys() != b.keys():
        raise ValueError("a paired comparison needs the same seeds in both")
    pairs = [(a[key], b[key]) for key in a] if paired else [(x, y) for x in a.values() for y in b.values()]
    gains = sorted(x - y for x, y in pairs)
    first, second = sorted(a.values()), sorted(b.values())
    # One order of the two decides the random draws, so that exchanging them mirrors the result and no more.
    if (gains > sorted(y - x for x, y in pairs)) if paired else (first > second):
        return compare(b, a, paired, (names[1], names[0]), where, level, seed).flipped()
    p, exact, least_p = signs_test(pairs, seed) if paired else labels_test(first, second, seed)
    return Comparison(
        names=names,
        n=(len(a), len(b)),
        paired=paired,
        means=(fmean(first), fmean(second)),
        medians=(median(first), median(second)),
        difference=fmean(first) - fmean(second),
        interval=bootstrap_interval(gains, seed=seed) if paired else bootstrap_interval(first, second, seed=seed),
        delta=sum((x > y) - (x < y) for x, y in pairs) / len(pairs),
        p=p,
        exact=exact,
        least_p=least_p,
        where=where,
        level=level,
    )


def _number(difference: float) -> str:
    """A difference of shares in percent points: whole ones, or one decimal below ten."""
    points = round(difference * 100, 0 if abs(difference) >= 0.0995 else 1)
    return f"{points + 0.0:g}"  # + 0.0: no minus zero


def _points(difference: float) -> str:
    text = _number(difference)
    return f"{text} point{'' if text in ('1', '-1') else 's'}"


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.2g}"


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
        return 1.0, True, 1.0  # one seed says nothing about what others would score
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
