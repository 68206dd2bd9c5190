"""What a claim is (a sentence of the paper, the runs and the measure that it is judged by) and what became of it."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any, Literal

from pydantic import field_validator
from pydantic_core import PydanticCustomError

from lengthlab.config.sections import Section
from lengthlab.errors import suggestion
from lengthlab.paper.measures import MEASURES, SHARES, describe
from lengthlab.paper.tables import Member, Results
from lengthlab.statistics import p_text

Finding = Literal["holds", "does not hold", "not enough evidence", "not run"]
SYMBOLS: dict[Finding, str] = {"holds": "✓", "does not hold": "✗", "not enough evidence": "?", "not run": "–"}


@dataclass(frozen=True)
class Part:
    """One statement of a claim: a number with its 95% interval over seeds."""

    name: str
    finding: Finding
    value: float | None
    low: float | None
    high: float | None
    seeds: tuple[int, ...]  # of each side, or of each setting
    p: float | None = None
    means: tuple[float, float] | None = None  # of the two sides
    note: str = ""  # why there are no numbers, or no verdict in spite of them

    @property
    def numbers(self) -> str:
        """Its numbers in one line."""
        if self.value is None or self.low is None or self.high is None:
            return f"{self.name}: {self.note}"
        sides = f"{self.means[0]:.3g} vs {self.means[1]:.3g}, " if self.means else ""
        p = "" if self.p is None else f", {p_text(self.p)}"
        estimate, low, high = (number + 0.0 for number in (self.value, self.low, self.high))  # no -0
        value = f"{estimate:{'+' if self.means else ''}.3g} ({low:.3g} to {high:.3g})"
        return f"{self.name}: {sides}{value}{p}{f'; {self.note}' if self.note else ''}"

    @property
    def line(self) -> str:
        """The sign of its verdict and its numbers."""
        return f"{SYMBOLS[self.finding]} {self.numbers}"


@dataclass(frozen=True)
class Verdict:
    """A claim, its rule and what the parts say together."""

    id: str
    sentence: str
    experiment: str
    rule: str
    finding: Finding
    parts: list[Part]

    @property
    def seeds(self) -> str:
        """The number of seeds behind each number: one if it is the same for all."""
        counts = sorted({count for part in self.parts for count in part.seeds})
        return "-".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))

    @property
    def of_parts(self) -> str:
        """How many parts have which verdict, where they differ.

        >>> parts = [
        ...     Part(name, finding, None, None, None, (0,)) for name, finding in (("a", "holds"), ("b", "not run"))
        ... ]
        >>> Verdict("c", "s", "x", "r", combined(parts), parts).of_parts
        'holds 1 of 2, not run 1 of 2'
        """
        found = {finding: sum(part.finding == finding for part in self.parts) for finding in SYMBOLS}
        said = [f"{finding} {count} of {len(self.parts)}" for finding, count in found.items() if count]
        return ", ".join(said) if len(said) > 1 else ""

    def as_dict(self) -> dict[str, Any]:
        parts = [asdict(part) | {"numbers": part.numbers, "line": part.line} for part in self.parts]
        return asdict(self) | {"of_parts": self.of_parts, "parts": parts}


def combined(parts: Sequence[Part]) -> Finding:
    """A claim holds if all its parts do, does not hold if one of them is refuted, and was not run if none was."""
    findings = {part.finding for part in parts}
    for unanimous in ("holds", "not run"):
        if findings == {unanimous}:
            return unanimous
    return "does not hold" if "does not hold" in findings else "not enough evidence"


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
    experiment: str  # whose runs it is judged by
    also: tuple[str, ...] = ()  # further experiments whose figures show it
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

    def runs(self, results: Results, settings: Sequence[str]) -> list[tuple[Member, float]]:
        """The usable runs of these settings, each with its measure."""
        found = []
        for member in results.members(self.experiment):
            if member.setting in settings and all(condition.holds(results, member.run) for condition in self.only):
                value = MEASURES[self.measure](results, member.run)
                if value is not None:
                    found.append((member, value))
        return found

    def values(self, results: Results, settings: Sequence[str]) -> list[float]:
        """The measure of each usable run of these settings."""
        return [value for _, value in self.runs(results, settings)]

    def missing(self, results: Results, settings: Sequence[str], name: str, seeds: tuple[int, ...], note: str) -> Part:
        """A part about which nothing can be said, because a setting has no runs or for the reason in `note`."""
        if not settings or not set(settings) <= {member.setting for member in results.members(self.experiment)}:
            return Part(name, "not run", None, None, None, seeds, note="not run")
        return Part(name, "not enough evidence", None, None, None, seeds, note=note)

    @property
    def range(self) -> tuple[float, float]:
        """Between which numbers the mean of the measure must lie."""
        return (0.0, 1.0) if self.measure in SHARES else (-inf, inf)

    @property
    def _about(self) -> str:
        """The measure, and which runs it is taken from."""
        runs = f", of runs with {' and '.join(map(str, self.only))}" if self.only else ""
        return f"{self.measure} ({describe(self.measure)}{runs})"
