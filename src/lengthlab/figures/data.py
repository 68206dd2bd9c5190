"""What a figure is drawn from: settings, each with its seeds, each with its rows of the result tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from lengthlab.analysis.names import SUMS

TableRow = Mapping[str, Any]
Look = dict[str, Any]  # how a line or a point is drawn: colour, marker, width
Points = list[tuple[float, float]]  # x and y, in the order of x


@dataclass(frozen=True)
class Seed:
    """One trained run: its seed, its facts (a row of trials.csv) and its rows of the other tables."""

    seed: int
    exact_match: Sequence[TableRow] = ()  # digits, exact_match, low, high, examples
    training: Sequence[TableRow] = ()  # step, loss, accuracy
    evolution: Sequence[TableRow] = ()  # step, digits, exact_match
    errors: Sequence[TableRow] = ()  # digits, wrong, examples, measure, key, value
    facts: TableRow = field(default_factory=dict)


@dataclass(frozen=True)
class Setting:
    """Runs that differ only in their seed. `panel` and `variant` are the parts of a label such as FIRE, no hints."""

    label: str
    trained: int  # the longest training length
    seeds: Sequence[Seed]
    panel: str = ""
    variant: str = ""
    aids: Sequence[str] = ()  # what it is given, in the sentences of the aid ledger


def points(rows: Sequence[TableRow], x: str, y: str) -> Points:
    """Two columns of a table as points; rows in which either is empty are left out."""
    return sorted((row[x], row[y]) for row in rows if row.get(x) is not None and row.get(y) is not None)


def by_length(seed: Seed) -> Points:
    """Exact match by digit length."""
    return points(seed.exact_match, "digits", "exact_match")


def score_at(seed: Seed, digits: int) -> float | None:
    """Exact match at one length, None if it was not tested."""
    return dict(by_length(seed)).get(digits)


def median_points(curves: Sequence[Points]) -> Points:
    """The median over curves at each x that at least one of them has.

    >>> median_points([[(1, 0.0), (2, 1.0)], [(1, 0.5)], [(1, 1.0)]])
    [(1, 0.5), (2, 1.0)]
    """
    values: dict[float, list[float]] = {}
    for curve in curves:
        for x, y in curve:
            values.setdefault(x, []).append(y)
    return [(x, median(values[x])) for x in sorted(values)]


def best_seed(setting: Setting) -> Seed | None:
    """The seed with the highest mean exact match beyond the training lengths: one run, as in the paper's best of N."""

    def beyond(seed: Seed) -> float:
        scores = [y for x, y in by_length(seed) if x > setting.trained] or [y for _, y in by_length(seed)]
        return sum(scores) / len(scores)

    tested = [seed for seed in setting.seeds if by_length(seed)]
    return max(tested, key=beyond, default=None)


def scores_at(setting: Setting, length: int) -> list[float]:
    """Exact match of every seed at one length."""
    return [score for seed in setting.seeds if (score := score_at(seed, length)) is not None]


def tested_lengths(settings: Sequence[Setting]) -> list[int]:
    """Every length that some seed was tested on."""
    return sorted({row["digits"] for setting in settings for seed in setting.seeds for row in seed.exact_match})


def pooled(settings: Sequence[Setting]) -> dict[int, list[float]]:
    """The scores of all seeds of all settings at each tested length."""
    return {
        length: [score for setting in settings for score in scores_at(setting, length)]
        for length in tested_lengths(settings)
    }


def longest_trained(settings: Sequence[Setting]) -> int:
    return max(setting.trained for setting in settings)


def in_panels(settings: Sequence[Setting], last: bool = False) -> list[Setting]:
    """Settings with the panel that each belongs to, the part of its label before the first comma (or the last one).

    >>> [(s.panel, s.variant) for s in in_panels([Setting("FIRE, no hints, short", 6, [])])]
    [('FIRE', 'no hints, short')]
    >>> [(s.panel, s.variant) for s in in_panels([Setting("FIRE, 25M, 1-10 digits", 10, [])], last=True)]
    [('FIRE, 25M', '1-10 digits')]
    """
    parted = []
    for setting in settings:
        panel, _, variant = setting.label.rpartition(", ") if last else setting.label.partition(", ")
        parted.append(setting if setting.panel else replace(setting, panel=panel, variant=variant))
    return parted


def curves_of(setting: Setting, kind: str = SUMS[0]) -> list[Points]:
    """Exact match by length of every seed that was tested, on a kind of sums."""
    return [curve for seed in setting.seeds if (curve := by_length(seed) if kind == SUMS[0] else on_sums(seed, kind))]


def on_sums(seed: Seed, kind: str) -> Points:
    """Exact match by length on a kind of sums, at the lengths of the error analysis."""
    rows = [row for row in seed.errors if (row["measure"], row["key"]) == ("sums", kind)]
    return points(rows, "digits", "value")


def count(seeds: int) -> str:
    """How many seeds, for a label."""
    return f"n = {seeds} seed" + ("" if seeds == 1 else "s")


def counts(numbers: Sequence[int]) -> str:
    """How many seeds several settings have.

    >>> counts([5, 5]), counts([3, 5])
    ('n = 5 seeds', 'n = 3-5 seeds')
    """
    low, high = min(numbers, default=0), max(numbers, default=0)
    return count(low) if low == high else f"n = {low}-{high} seeds"
