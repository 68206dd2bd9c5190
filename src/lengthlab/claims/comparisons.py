"""Kinds of comparison: how a claim is put to the test.

Every kind makes a statement for each of its parts (a pair of settings, a setting), each with a 95% interval over seeds.
A claim holds if every part does; it does not hold if one part is refuted; otherwise the evidence is not enough.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from statistics import fmean
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from lengthlab.claims.measures import MEASURES, describe
from lengthlab.claims.verdict import Finding, Part, Verdict, combined
from lengthlab.errors import suggestion
from lengthlab.options import Section
from lengthlab.results import Member, Results
from lengthlab.seeding import generator
from lengthlab.statistics import compare, deviation_interval, t_interval

LEAST_SEEDS = 3
LEAST_PLACES = 3  # of a trend
LEVEL = 0.05
RESAMPLES = 9_999
Array = NDArray[np.float64]


class Condition(Section):
    """Runs that do not meet it are left out."""

    measure: str
    at_least: float = float("-inf")
    at_most: float = float("inf")

    model_config = Section.model_config | {"allow_inf_nan": True}

    def holds(self, results: Results, run: str) -> bool:
        value = MEASURES[self.measure](results, run)
        return value is not None and self.at_least <= value <= self.at_most

    def __str__(self) -> str:
        bounds = [f"at least {self.at_least:g}"] if self.at_least > float("-inf") else []
        bounds += [f"at most {self.at_most:g}"] if self.at_most < float("inf") else []
        return f"{self.measure} {' and '.join(bounds)}"


class Claim(Section):
    """A sentence of the paper and how it is tested."""

    kind: str
    id: str
    sentence: str
    experiment: str
    measure: str
    only: tuple[Condition, ...] = ()

    @field_validator("measure")
    @classmethod
    def _known_measure(cls, measure: str) -> str:
        if measure not in MEASURES:
            raise PydanticCustomError("measure", "no such measure; {hint}", {"hint": suggestion(measure, MEASURES)})
        return measure

    @property
    @abstractmethod
    def rule(self) -> str:
        """When the claim holds and when it does not, in words."""

    @abstractmethod
    def parts(self, results: Results) -> list[Part]:
        """The statements that the claim is made of."""

    def judge(self, results: Results) -> Verdict:
        return Verdict(
            self.id, self.sentence, self.experiment, self.rule, combined(parts := self.parts(results)), parts
        )

    def values(self, results: Results, settings: Sequence[str]) -> dict[str, float]:
        """The measure of each run of these settings that tells it, by setting and seed."""
        found = {}
        for member in results.members(self.experiment):
            if member.setting in settings and all(condition.holds(results, member.run) for condition in self.only):
                value = MEASURES[self.measure](results, member.run)
                if value is not None:
                    found[f"{member.setting}, seed {member.seed}"] = value
        return found

    @property
    def _about(self) -> str:
        """The measure and the runs that it is taken of."""
        runs = f", of runs with {' and '.join(map(str, self.only))}" if self.only else ""
        return f"{self.measure} ({describe(self.measure)}{runs})"


class Better(Claim):
    """The first of each pair has a higher mean than the second. Several settings in one place are taken together."""

    pairs: tuple[tuple[str | tuple[str, ...], str | tuple[str, ...]], ...] = Field(min_length=1)
    threshold: float = 0.0

    @property
    def rule(self) -> str:
        clear = " with p < 0.05" if self.threshold >= 0 else ""
        return (
            f"{self._about}: holds if in every pair the mean of the first less that of the second is above "
            f"{self.threshold:g} (95% interval){clear}; does not hold if it is below"
        )

    def parts(self, results: Results) -> list[Part]:
        return [self._pair(results, _as_tuple(first), _as_tuple(second)) for first, second in self.pairs]

    def _pair(self, results: Results, first: tuple[str, ...], second: tuple[str, ...]) -> Part:
        names = " and ".join(first), " and ".join(second)
        a, b = self.values(results, first), self.values(results, second)
        name, seeds = f"{names[0]} against {names[1]}", (len(a), len(b))
        if min(seeds) < LEAST_SEEDS:
            return Part.missing(name, seeds)
        result = compare(a, b, names=names)
        low, high = t_interval(list(a.values()), list(b.values()))  # the bootstrap's is too narrow for five seeds
        finding, note = _above(low, high, self.threshold), ""
        if max(result.means) <= abs(self.threshold):
            finding, note = "not enough evidence", "both too low for a difference to show"
        elif result.p >= LEVEL and (self.threshold == 0 or (self.threshold > 0 and finding == "holds")):
            finding = "not enough evidence"
        return Part(name, finding, result.difference, low, high, seeds, result.p, result.means, note)


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
        values = list(self.values(results, [setting]).values())
        if len(values) < LEAST_SEEDS:
            return Part.missing(setting, (len(values),))
        low, high = t_interval(values)
        return Part(setting, _within(low, high, self.at_least, self.at_most), fmean(values), low, high, (len(values),))


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
        groups = [list(self.values(results, [setting]).values()) for setting in chosen]
        name, seeds = "standard deviation over seeds", tuple(map(len, groups)) or (0,)
        groups = [group for group in groups if len(group) >= LEAST_SEEDS]
        if not groups:
            return [Part.missing(name, seeds)]
        groups = [group for group in groups if not (max(group) <= 0 or min(group) >= 1)]
        if not groups:
            return [Part.missing(name, seeds, "all at 0 or all at 1: nothing could differ")]
        value, low, high = deviation_interval(groups)
        return [Part(name, _above(low, high, self.at_least), value, low, high, seeds)]


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
        place: dict[str, float] = {member.setting: self._place(results, member) for member in members}
        groups = {setting: list(self.values(results, [setting]).values()) for setting in chosen}
        groups = {setting: group for setting, group in groups.items() if len(group) >= LEAST_SEEDS}
        name, seeds = f"rank correlation with {self.by.replace('_', ' ')}", tuple(map(len, groups.values()))
        places = [place[setting] for setting in groups]
        if len(set(places)) < LEAST_PLACES:
            return [
                Part.missing(name, seeds or (0,), f"needs {LEAST_PLACES} settings with {LEAST_SEEDS} runs that tell")
            ]
        if len({value for group in groups.values() for value in group}) < 2:
            return [Part.missing(name, seeds, "the same in all runs")]
        value, low, high = _resampled(list(groups.values()), lambda sample: _rank_correlation(places, sample))
        return [Part(name, _within(low, high, self.at_least, self.at_most), value, low, high, seeds)]

    def _place(self, results: Results, member: Member) -> float:
        return results.trial(member.run)[self.by]


KINDS: dict[str, type[Claim]] = {"better": Better, "level": Level, "spread": Spread, "trend": Trend}


def _as_tuple(settings: str | tuple[str, ...]) -> tuple[str, ...]:
    return (settings,) if isinstance(settings, str) else settings


def _above(low: float, high: float, threshold: float) -> Finding:
    return "holds" if low > threshold else "does not hold" if high < threshold else "not enough evidence"


def _within(low: float, high: float, at_least: float | None, at_most: float | None) -> Finding:
    lowest = float("-inf") if at_least is None else at_least
    highest = float("inf") if at_most is None else at_most
    if lowest <= low and high <= highest:
        return "holds"
    return "does not hold" if high < lowest or low > highest else "not enough evidence"


def _bounds(at_least: float | None, at_most: float | None) -> str:
    if at_least is not None and at_most is not None:
        return f"between {at_least:g} and {at_most:g}"
    return f"at least {at_least:g}" if at_least is not None else f"at most {at_most:g}"


def _rank_correlation(places: Sequence[float], groups: Sequence[Array]) -> Array:
    """Spearman's, of the groups' places with their values (R, n): (R,). Ties have their mean rank; 0 if all tie."""
    from scipy.stats import rankdata

    at = np.concatenate([np.full(group.shape[1], place) for place, group in zip(places, groups, strict=True)])
    x, y = rankdata(at), rankdata(np.concatenate(groups, axis=1), axis=1)
    x, y = x - x.mean(), y - y.mean(axis=1, keepdims=True)
    scale = np.sqrt((x**2).sum() * (y**2).sum(axis=1))
    return np.where(scale > 0, (y @ x) / np.maximum(scale, 1e-12), 0.0)


def _resampled(
    groups: Sequence[Sequence[float]], statistic: Callable[[Sequence[Array]], Array]
) -> tuple[float, float, float]:
    """A statistic with its 95% percentile bootstrap interval, seeds drawn anew within each group."""
    rng = generator(0, "claims")
    arrays = [np.sort(np.asarray(group, dtype=float)) for group in groups]
    drawn = [array[rng.integers(0, len(array), (RESAMPLES, len(array)))] for array in arrays]
    low, high = np.quantile(statistic(drawn), [0.025, 0.975])
    return float(statistic([array[None] for array in arrays])[0]), float(low), float(high)
