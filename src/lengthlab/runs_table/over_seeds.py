"""Runs that differ in nothing but their seeds, taken together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lengthlab.runs_table.columns import SETTINGS
from lengthlab.runs_table.read import Record
from lengthlab.statistics import Generalization, SeedSummary, generalization

Config = dict[str, Any]  # as plain data
Setting = dict[str, Any]
COLUMNS = {column.path: column.name for column in SETTINGS}


@dataclass(frozen=True)
class Group:
    """The runs of one setting. A copy of a run has its seeds and counts once."""

    records: tuple[Record, ...]

    @property
    def config(self) -> Config:
        """That of its first run."""
        return self.records[0].row["config"]

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


def differences(configs: Sequence[Config]) -> list[Setting]:
    """For each config the settings in which they are not all alike, seeds left out, by column or dotted name.

    Options that belong to one variant only (`encoding.base` of rope) are left out where the variants differ anyway.
    """
    flat = [dict(_flatten(config)) for config in configs]
    names = list(dict.fromkeys(name for settings in flat for name in settings if not name.startswith("seeds.")))
    varying = [name for name in names if len({repr(settings.get(name)) for settings in flat}) > 1]
    kinds = tuple(name.removesuffix("kind") for name in varying if name.endswith(".kind"))
    telling = [name for name in varying if name.endswith(".kind") or not name.startswith(kinds)]
    return [{COLUMNS.get(name, name): settings.get(name) for name in telling} for settings in flat]


def _flatten(section: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in section.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


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
