"""What several seeds of one setting say together. The number of seeds is part of every summary and every sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from lengthlab.statistics.intervals import t_interval, within
from lengthlab.statistics.text import percent

LEVELS = (0.90, 0.95, 0.99)


@dataclass(frozen=True)
class SeedSummary:
    """Exact match over the seeds of one setting."""

    seeds: Mapping[str, float]
    n: int
    mean: float
    median: float
    best: float
    worst: float
    interval: tuple[float, float] | None  # 95% interval of the mean; None for a single seed
    reached: Mapping[float, int]  # how many seeds have at least each of LEVELS

    @classmethod
    def of(cls, seeds: Mapping[str, float]) -> "SeedSummary":
        """From {seed: exact match}."""
        if not seeds:
            raise ValueError("a summary needs at least one seed")
        scores = sorted(seeds.values())
        low, high = t_interval(scores) if len(scores) > 1 else (0.0, 1.0)
        return cls(
            seeds=dict(seeds),
            n=len(scores),
            mean=fmean(scores),
            median=median(scores),
            best=scores[-1],
            worst=scores[0],
            interval=(within(low, 0.0, 1.0), within(high, 0.0, 1.0)) if len(scores) > 1 else None,
            reached={level: sum(score >= level for score in scores) for level in LEVELS},
        )

    @property
    def sentence(self) -> str:
        """Never the best alone: the number of seeds, the mean, the median and the worst stand beside it."""
        if self.n == 1:
            return f"1 seed: {percent(self.mean)}; one seed says nothing about the others."
        low, high = self.interval or (self.mean, self.mean)
        reached = ", ".join(f"{level:.0%} by {count} of {self.n}" for level, count in self.reached.items())
        return (
            f"{self.n} seeds: mean {percent(self.mean)} (95% interval {percent(low)} to {percent(high)}), "
            f"median {percent(self.median)}, best {percent(self.best)}, worst {percent(self.worst)}; reached {reached}."
        )

    def as_dict(self) -> dict[str, Any]:
        """Flat but for `seeds`: shares of seeds are named share_90, share_95, share_99."""
        low, high = self.interval or (None, None)
        shares = {f"share_{level * 100:.0f}": count / self.n for level, count in self.reached.items()}
        named = {"n": self.n, "mean": self.mean, "low": low, "high": high, "median": self.median}
        return named | {"best": self.best, "worst": self.worst} | shares | {"seeds": dict(self.seeds)}


@dataclass(frozen=True)
class Generalization:
    """How far a trained model generalizes.

    `longest` is the largest tested length such that it and every shorter tested length have at least the threshold; 0
    if the shortest fails. A length that passes again beyond one that failed does not count.
    """

    longest: int
    trained: int
    is_limit: bool  # every tested length passed: with longer tests it might go farther

    @property
    def factor(self) -> float:
        """`longest` over the training length; below 1 if it fails on lengths that it was trained on."""
        return self.longest / self.trained

    @property
    def text(self) -> str:
        """
        >>> Generalization(15, 10, False).text, Generalization(20, 10, True).text
        ('1.5x', '2.0x or more')
        """
        return f"{self.factor:.1f}x" + (" or more" if self.is_limit else "")


def generalization(scores: Mapping[int, float], trained: int, threshold: float = 0.9) -> Generalization:
    """How far {length: exact match} stays at or above `threshold` without a break, against the training length."""
    if not scores or trained < 1 or not 0 < threshold <= 1:
        raise ValueError("generalization needs tested lengths, a training length and a threshold above 0 and up to 1")
    longest = 0
    for length in sorted(scores):
        if scores[length] < threshold:
            return Generalization(longest, trained, False)
        longest = length
    return Generalization(longest, trained, True)
