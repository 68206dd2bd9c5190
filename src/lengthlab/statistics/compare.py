"""Two settings against each other over their seeds, summed up in a plain sentence."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Any

from lengthlab.statistics.difference import LEVEL, difference, least_p, paired_difference
from lengthlab.statistics.intervals import within
from lengthlab.statistics.text import p_text, percent


@dataclass(frozen=True)
class Comparison:
    """a against b: every difference is a's less b's."""

    names: tuple[str, str]
    n: tuple[int, int]
    paired: bool
    means: tuple[float, float]
    medians: tuple[float, float]
    difference: float  # of the means
    interval: tuple[float, float] | None  # 95% interval of the difference; None with a single seed
    wins: tuple[float, float]  # share of the pairs (all, or those of one seed) that each wins; the others are ties
    p: float
    least_p: float  # the smallest p that so many seeds can give whatever they score
    where: str = ""  # such as "at 12 digits"

    @property
    def delta(self) -> float:
        """Cliff's delta: the share of the pairs that a wins, less the share that b wins."""
        return self.wins[0] - self.wins[1]

    @property
    def superiority(self) -> float:
        """Share of the pairs that a wins; a tie counts half."""
        return (1 + self.delta) / 2

    @property
    def clear(self) -> bool:
        """Whether the seeds show a difference: by p, by the interval, and not because they are too few to tell."""
        low, high = self.interval or (0.0, 0.0)
        return max(self.p, self.least_p) < LEVEL and not low <= 0 <= high

    @property
    def sentence(self) -> str:
        """The result in words; a clear winner is named first."""
        ours = self if self.difference >= 0 or not self.clear else self.flipped()
        first, second = ours.names
        beats = f"{first} beats {second}" if self.clear else f"No clear difference between {first} and {second}"
        details = [f"difference {_points(ours.difference)}"]
        if ours.interval:
            details.append(f"95% interval {_number(ours.interval[0])} to {_number(ours.interval[1])}")
            details.append(f"{p_text(self.p)} in a {'paired t test' if self.paired else 'permutation test'}")
        sentences = [
            f"{beats}{f' {self.where}' if self.where else ''}: {percent(ours.means[0])} against "
            f"{percent(ours.means[1])} on average over {self._seeds()} ({', '.join(details)}).",
            f"The medians differ by {_points(abs(ours.medians[0] - ours.medians[1]))}; {ours._pairs()}.",
        ]
        if self.least_p >= LEVEL:
            sentences.append("So few seeds cannot show a difference, whatever they score: train more to find out.")
        return " ".join(sentences)

    def _seeds(self) -> str:
        a, b = self.n
        if a != b:
            return f"{a} and {b} seeds"
        return f"{a} seed{'s' if a > 1 else ''}{', paired' if self.paired else ' each'}"

    def _pairs(self) -> str:
        """How often the first wins, and how often neither does."""
        pairs = "the pairs" if self.paired else "all pairs of seeds"
        ties = max(0.0, 1 - sum(self.wins))
        if ties > 1 - 1e-9:
            return f"{pairs} are ties"
        tied = f", {percent(ties)} are ties" if ties > 1e-9 else ""
        return f"{self.names[0]} wins {percent(self.wins[0])} of {pairs}{tied}"

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
            wins=(self.wins[1], self.wins[0]),
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
            "least_p": self.least_p,
            "clear": self.clear,
        }


def compare(
    a: Mapping[str, float],
    b: Mapping[str, float],
    paired: bool = False,
    names: tuple[str, str] = ("A", "B"),
    where: str = "",
) -> Comparison:
    """Compare {seed: score} of two settings; `paired` needs the same seeds in both."""
    if not a or not b:
        raise ValueError("a comparison needs at least one seed of each")
    if paired and a.keys() != b.keys():
        raise ValueError("a paired comparison needs the same seeds in both")
    first, second = sorted(a.values()), sorted(b.values())
    pairs = sorted((a[key], b[key]) for key in a) if paired else [(x, y) for x in first for y in second]
    interval, p = None, 1.0
    if min(len(a), len(b)) > 1:
        _, low, high, p = paired_difference(pairs) if paired else difference(first, second)
        interval = within(low, -1.0, 1.0), within(high, -1.0, 1.0)
    wins = sum(x > y for x, y in pairs) / len(pairs), sum(x < y for x, y in pairs) / len(pairs)
    return Comparison(
        names=names,
        n=(len(a), len(b)),
        paired=paired,
        means=(fmean(first), fmean(second)),
        medians=(median(first), median(second)),
        difference=fmean(first) - fmean(second),
        interval=interval,
        wins=wins,
        p=p,
        least_p=least_p(len(a)) if paired else least_p(len(a), len(b)),
        where=where,
    )


def _number(difference: float) -> str:
    """A difference of shares in percent points: whole ones, or one decimal below ten."""
    points = round(difference * 100, 0 if abs(difference) >= 0.0995 else 1)
    return f"{points + 0.0:g}"  # + 0.0: no minus zero


def _points(difference: float) -> str:
    text = _number(difference)
    return f"{text} point{'' if text in ('1', '-1') else 's'}"
