"""All seeds of an experiment as a table: exact match at several lengths, with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

from lengthlab.figures.data import Setting, tested_lengths
from lengthlab.results import Member, Results

COLUMNS = 9  # lengths shown at most; the CSV has all


@dataclass(frozen=True)
class Cell:
    """Exact match with its interval, or nothing if this length was not tested."""

    score: str = ""
    interval: str = ""
    inside: bool = False  # a length of training


@dataclass(frozen=True)
class Line:
    """One run."""

    setting: str
    seed: int
    run: str
    state: str
    cells: list[Cell]


@dataclass(frozen=True)
class SeedTable:
    """All runs of an experiment at the same lengths; `examples` says on how many sums a score rests."""

    lengths: list[int]
    examples: str
    lines: list[Line]


def seed_table(settings: Sequence[Setting], members: Sequence[Member], results: Results) -> SeedTable:
    """Every run in declared order, unfinished ones too."""
    lengths = some_of(tested_lengths(settings), {setting.trained for setting in settings})
    rows = {member.run: results.exact_match(member.run) for member in members}
    numbers = sorted({row["examples"] for found in rows.values() for row in found if row["examples"] is not None})
    lines = []
    for member in members:
        facts = results.trial(member.run)
        by_length = {row["digits"]: row for row in rows[member.run]}
        cells = [_cell(by_length.get(length), length <= (facts["trained_digits"] or 0)) for length in lengths]
        lines.append(Line(member.setting, member.seed, member.run, facts["state"], cells))
    return SeedTable(lengths, " to ".join(f"{number:,}" for number in dict.fromkeys(numbers[:1] + numbers[-1:])), lines)


def _cell(row: dict | None, inside: bool) -> Cell:
    if row is None or row["exact_match"] is None:
        return Cell(inside=inside)
    interval = "" if row["low"] is None or row["high"] is None else f"{_percent(row['low'])}–{_percent(row['high'])}"
    return Cell(_percent(row["exact_match"]), interval, inside)


def _percent(share: float) -> str:
    """As short as it can be said: 100, 99.6, 0.

    >>> _percent(1.0), _percent(0.996), _percent(0.0004)
    ('100', '99.6', '0.04')
    """
    text = f"{100 * share:.1f}" if 0.001 <= share <= 0.999 or share in (0, 1) else f"{100 * share:.2f}"
    return text.removesuffix(".0")


def some_of(lengths: Sequence[int], wanted: set[int], most: int = COLUMNS) -> list[int]:
    """At most `most` lengths, evenly spaced, the wanted ones among them if they were tested.

    >>> some_of(range(1, 16), {6}, 5)
    [1, 6, 8, 11, 15]
    >>> some_of([3, 4], {6})
    [3, 4]
    """
    if len(lengths) <= most:
        return list(lengths)
    step = (len(lengths) - 1) / (most - 1)
    even = [lengths[round(index * step)] for index in range(most)]
    for length in sorted(wanted & set(lengths)):
        nearest = min(range(1, most - 1), key=lambda index: abs(even[index] - length))
        if length not in even:
            even[nearest] = length
    return sorted(even)
