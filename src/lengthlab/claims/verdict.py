"""What became of a claim, with its numbers."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Finding = Literal["holds", "does not hold", "not enough evidence"]
SYMBOLS: dict[Finding, str] = {"holds": "✓", "does not hold": "✗", "not enough evidence": "?"}


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

    @classmethod
    def missing(cls, name: str, seeds: tuple[int, ...], note: str = "fewer than 3 runs that tell") -> "Part":
        """A part about which nothing can be said."""
        return cls(name, "not enough evidence", None, None, None, seeds, note=note)

    @property
    def numbers(self) -> str:
        """Its numbers in one line."""
        if self.value is None or self.low is None or self.high is None:
            return f"{self.name}: {self.note}"
        sides = f"{self.means[0]:.3g} vs {self.means[1]:.3g}, " if self.means else ""
        p = "" if self.p is None else f", p {'< 0.001' if self.p < 0.001 else f'= {self.p:.2g}'}"
        estimate, low, high = (number + 0.0 for number in (self.value, self.low, self.high))  # no -0
        value = f"{estimate:{'+' if self.means else ''}.3g} ({low:.3g} to {high:.3g})"
        return f"{self.name}: {sides}{value}{p}{f'; {self.note}' if self.note else ''}"


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

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"parts": [asdict(part) | {"numbers": part.numbers} for part in self.parts]}


def combined(parts: Sequence[Part]) -> Finding:
    """A claim holds if all its parts do, and does not hold if one of them is refuted."""
    findings = {part.finding for part in parts}
    if findings == {"holds"}:
        return "holds"
    return "does not hold" if "does not hold" in findings else "not enough evidence"
