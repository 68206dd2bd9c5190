"""Runs that differ in nothing but their seeds, taken together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lengthlab.runs_table.read import Record
from lengthlab.statistics import Generalization, SeedSummary, generalization

Setting = dict[str, Any]


@dataclass(frozen=True)
class Group:
    """The runs of one setting. A copy of a run has its seeds and counts once."""

    records: tuple[Record, ...]

    @property
    def trained(self) -> int:
        return self.records[0].row["trained_digits"]

    @cached_property
    def tested(self) -> tuple[Record, ...]:
        """Those with an evaluation, one for each seed."""
        return tuple({record.seed: record for record in self.records if record.scores}.values())

    @property
    def lengths(self) -> list[int]:
        """Every length that at least one seed was tested on."""
        return sorted({length for record in self.tested for length in record.scores})

    def scores(self, digits: int) -> dict[str, float]:
        """{seed: exact match} at a length."""
        return {record.seed: record.scores[digits] for record in self.tested if digits in record.scores}

    def summary(self, digits: int) -> SeedSummary | None:
        """Over the seeds that were tested at this length; None if none was."""
        scores = self.scores(digits)
        return SeedSummary.of(scores) if scores else None

    def generalization(self, threshold: float) -> dict[str, Generalization]:
        """How far each seed goes."""
        return {record.seed: generalization(record.scores, self.trained, threshold) for record in self.tested}


def group(records: Iterable[Record]) -> list[Group]:
    """Groups in the order of their first runs."""
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record.row["setting"], []).append(record)
    return [Group(tuple(members)) for members in found.values()]


def differences(groups: Sequence[Group]) -> list[Setting]:
    """For each group the settings in which the groups are not all alike, by short dotted names.

    Options that belong to one variant only (`encoding.base` of rope) are left out where the variants differ anyway.
    """
    flat = [dict(_flatten(group.records[0].row["config"])) for group in groups]
    names = list(dict.fromkeys(name for settings in flat for name in settings if not name.startswith("seeds.")))
    varying = [name for name in names if len({repr(settings.get(name)) for settings in flat}) > 1]
    kinds = {name.removesuffix("kind") for name in varying if name.endswith(".kind")}
    telling = [name for name in varying if name.endswith(".kind") or not name.startswith(tuple(kinds))]
    return [{_short(name): settings.get(name) for name in telling} for settings in flat]


def _flatten(section: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in section.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def _short(name: str) -> str:
    """`encoding` for encoding.kind, `steps` for training.steps; what could be several things keeps its section."""
    if name.endswith(".kind"):
        return name.removesuffix(".kind").rpartition(".")[2]
    section, _, last = name.rpartition(".")
    return last if section in ("model", "training", "format") else name


def telling_lengths(trained: int, tested: Sequence[int], most: int = 5) -> list[int]:
    """Few of many lengths: the longest one inside the training range, and those beyond evenly spread up to the last.

    >>> telling_lengths(10, range(1, 31))
    [10, 15, 20, 25, 30]
    """
    inside = [length for length in tested if length <= trained][-1:]
    beyond = [length for length in tested if length > trained]
    wanted = most - len(inside)
    if len(beyond) <= wanted:
        return inside + beyond
    return inside + [beyond[round((index + 1) * len(beyond) / wanted) - 1] for index in range(wanted)]
