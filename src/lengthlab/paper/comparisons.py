"""Kinds of comparison: how a claim is put to the test.

Every kind makes a statement for each of its parts (a pair of settings, a setting), each with a 95% interval over seeds
and a verdict of its own. A claim holds if every part does; it does not hold if one part is refuted; without any runs it
was not run; otherwise the evidence is not enough.
"""

from fnmatch import fnmatchcase
from statistics import fmean
from typing import Literal

from pydantic import Field

from lengthlab.paper.claim import Claim, Part
from lengthlab.paper.decide import LEAST_SEEDS, above, between, rank_correlation, resampled
from lengthlab.paper.measures import SHARES
from lengthlab.paper.tables import Results
from lengthlab.statistics.difference import LEAST_PAIRS, LEVEL, difference, paired_difference
from lengthlab.statistics.intervals import deviation_interval, t_interval, within

LEAST_POINTS = 3  # of a trend
TOO_FEW = f"fewer than {LEAST_SEEDS} usable runs"


class Better(Claim):
    """The first of each pair has a higher mean than the second. Several settings on one side are taken together.

    Two means are never equal, so "the first is higher" could not be refuted where nothing is gained. A gain whose whole
    interval is below `least` is too small to matter, and refutes it.

    There is no verdict where the scores leave no room for a difference: a gain of the first is hidden where both are
    near 0 or both near 1; a gain of the second (a threshold below 0 says that there is none) is hidden near 1, and
    would show near 0.
    """

    pairs: tuple[tuple[str | tuple[str, ...], str | tuple[str, ...]], ...] = Field(min_length=1)
    threshold: float = 0.0
    least: float = 0.05  # where the threshold is 0

    @property
    def rule(self) -> str:
        clear = " with p < 0.05" if self.threshold >= 0 else ""
        little = ", a gain too small to matter" if self.threshold == 0 else ""
        ends = "0 or 1" if self.threshold == 0 else "0" if self.threshold > 0 else "1"
        return (
            f"{self._about}: holds if in every pair the mean of the first minus that of the second is above "
            f"{self.threshold:g} (95% interval){clear}; otherwise it does not hold if the interval lies below "
            f"{self.threshold or self.least:g}{little}; undecided if both are so near {ends} that no difference could "
            f"show; if both have {LEAST_PAIRS} seeds or more in common, these are compared one by one"
        )

    def parts(self, results: Results) -> list[Part]:
        return [self._pair(results, _as_tuple(first), _as_tuple(second)) for first, second in self.pairs]

    def _pair(self, results: Results, first: tuple[str, ...], second: tuple[str, ...]) -> Part:
        name = f"{' and '.join(first)} against {' and '.join(second)}"
        a, b = self.values(results, first), self.values(results, second)
        seeds = len(a), len(b)
        if min(seeds) < LEAST_SEEDS:
            return self.missing(results, (*first, *second), name, seeds, TOO_FEW)
        mine, theirs = self._by_seeds(results, first), self._by_seeds(results, second)
        shared = [key for key in mine if key in theirs]
        paired = len(shared) >= LEAST_PAIRS
        if paired:
            a, b = [mine[key] for key in shared], [theirs[key] for key in shared]
            seeds = len(a), len(b)
        value, low, high, p = paired_difference(list(zip(a, b, strict=True))) if paired else difference(a, b)
        finding, note = above(low, high, self.threshold), "paired" if paired else ""
        means = fmean(a), fmean(b)
        if p >= LEVEL and (self.threshold == 0 or (self.threshold > 0 and finding == "holds")):
            finding = "not enough evidence"
        if finding != "holds" and self.threshold == 0 and high < self.least:
            finding = "does not hold"
        hidden = self._hidden(means, abs(self.threshold) or (0.0 if finding == "holds" else self.least))
        if hidden:
            finding, note = "not enough evidence", f"both too {hidden} for a difference to show"
        reach = self.range[1] - self.range[0]
        low, high = within(low, -reach, reach), within(high, -reach, reach)
        return Part(name, finding, value, low, high, seeds, p, means, note)

    def _hidden(self, means: tuple[float, float], smallest: float) -> str:
        """Where a difference as small as this could not show: "low", "high", or nowhere."""
        if self.threshold >= 0 and max(means) <= smallest:
            return "low"
        return "high" if self.threshold <= 0 and self.measure in SHARES and min(means) >= 1 - smallest else ""

    def _by_seeds(self, results: Results, settings: tuple[str, ...]) -> dict[tuple[int | None, ...], float]:
        """The mean over the settings for each set of seeds that all of them have: of weights, data and sampling."""
        found: dict[tuple[int | None, ...], list[float]] = {}
        for member, value in self.runs(results, settings):
            trial = results.trial(member.run)
            seeds = (member.seed, *(trial[f"seed_{what}"] for what in ("weights", "data", "sampling")))
            found.setdefault(seeds, []).append(value)
        return {seeds: fmean(values) for seeds, values in found.items() if len(values) == len(settings)}


class OfSettings(Claim):
    """A claim about settings, given by patterns such as `FIRE*`."""

    settings: tuple[str, ...] = ("*",)

    def matching(self, results: Results) -> list[str]:
        """The settings of the experiment that are meant."""
        names = results.settings(self.experiment)
        return [name for name in names if any(fnmatchcase(name, pattern) for pattern in self.settings)]


class Level(OfSettings):
    """The mean over the seeds of each setting lies between two bounds."""

    at_least: float | None = None
    at_most: float | None = None

    @property
    def rule(self) -> str:
        return (
            f"{self._about}: holds if the mean over seeds is {_bounds(self.at_least, self.at_most)} in every setting "
            "named (95% interval); does not hold if it is outside"
        )

    def parts(self, results: Results) -> list[Part]:
        found = self.matching(results)
        absent = [name for name in self.settings if not any(fnmatchcase(setting, name) for setting in found)]
        return [self._setting(results, setting) for setting in (*found, *absent)]

    def _setting(self, results: Results, setting: str) -> Part:
        values = self.values(results, [setting])
        if len(values) < LEAST_SEEDS:
            return self.missing(results, [setting], setting, (len(values),), TOO_FEW)
        low, high = (within(end, *self.range) for end in t_interval(values))
        return Part(setting, between(low, high, self.at_least, self.at_most), fmean(values), low, high, (len(values),))


class Spread(OfSettings):
    """The standard deviation over seeds, pooled over settings, is at least so large.

    Settings whose runs are all at 0 or all at 1 are left out: there they could not differ.
    """

    at_least: float

    @property
    def rule(self) -> str:
        return (
            f"{self._about}: holds if the standard deviation over seeds is at least {self.at_least:g} (95% interval); "
            "does not hold if it is below"
        )

    def parts(self, results: Results) -> list[Part]:
        chosen = self.matching(results)
        groups = [self.values(results, [setting]) for setting in chosen]
        name, seeds = "standard deviation over seeds", tuple(map(len, groups)) or (0,)
        groups = [group for group in groups if len(group) >= LEAST_SEEDS]
        if not groups:
            return [self.missing(results, chosen, name, seeds, TOO_FEW)]
        groups = [group for group in groups if not (max(group) <= 0 or min(group) >= 1)]
        if not groups:
            return [self.missing(results, chosen, name, seeds, "all at 0 or all at 1: nothing could differ")]
        value, low, high = deviation_interval(groups)
        high = max(value, min(high, (self.range[1] - self.range[0]) / 2))  # half of the seeds at either end
        return [Part(name, above(low, high, self.at_least), value, low, high, seeds)]


class Trend(OfSettings):
    """The rank correlation of the measure with a number of the settings, such as the training length."""

    by: Literal["trained_digits", "parameters"]
    at_least: float | None = None
    at_most: float | None = None

    @property
    def rule(self) -> str:
        return (
            f"{self._about}: holds if its rank correlation with {self.by.replace('_', ' ')} is "
            f"{_bounds(self.at_least, self.at_most)} (95% interval); does not hold if it is outside"
        )

    def parts(self, results: Results) -> list[Part]:
        chosen = self.matching(results)
        members = [member for member in results.members(self.experiment) if member.setting in chosen]
        number: dict[str, float] = {member.setting: results.trial(member.run)[self.by] for member in members}
        groups = {setting: self.values(results, [setting]) for setting in chosen}
        groups = {setting: group for setting, group in groups.items() if len(group) >= LEAST_SEEDS}
        name, seeds = f"rank correlation with {self.by.replace('_', ' ')}", tuple(map(len, groups.values()))
        numbers = [number[setting] for setting in groups]
        if len(set(numbers)) < LEAST_POINTS:
            note = f"needs {LEAST_POINTS} settings with {LEAST_SEEDS} usable runs"
            return [self.missing(results, chosen, name, seeds or (0,), note)]
        if len({value for group in groups.values() for value in group}) < 2:
            return [self.missing(results, chosen, name, seeds, "the same in all runs")]
        value, low, high = resampled(list(groups.values()), lambda sample: rank_correlation(numbers, sample))
        return [Part(name, between(low, high, self.at_least, self.at_most), value, low, high, seeds)]


KINDS: dict[str, type[Claim]] = {"better": Better, "level": Level, "spread": Spread, "trend": Trend}


def _as_tuple(settings: str | tuple[str, ...]) -> tuple[str, ...]:
    return (settings,) if isinstance(settings, str) else settings


def _bounds(at_least: float | None, at_most: float | None) -> str:
    if at_least is not None and at_most is not None:
        return f"between {at_least:g} and {at_most:g}"
    return f"at least {at_least:g}" if at_least is not None else f"at most {at_most:g}"
