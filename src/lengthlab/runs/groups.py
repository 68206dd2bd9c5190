"""Groups of runs: those that differ only in their seeds, taken together; two, chosen by conditions, compared."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from lengthlab.config.lengths import lengths_text
from lengthlab.errors import UserError
from lengthlab.runs.columns import SETTINGS, Row, flat
from lengthlab.runs.database import Database, is_query
from lengthlab.runs.reader import Loaded, Record
from lengthlab.statistics import Comparison, Generalization, SeedSummary, compare, generalization
from lengthlab.statistics.difference import LEAST_PAIRS

SHORT = 30  # a condition up to this length can stand in a sentence
COLUMN_OF = {column.path: column.name for column in SETTINGS if column.path}


@dataclass(frozen=True)
class Group:
    """The runs of one setting. A copy of a run has its seeds and counts once."""

    records: tuple[Record, ...]

    @property
    def config(self) -> Row:
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


def differences(configs: Sequence[Row]) -> list[Row]:
    """For each config the settings in which they are not all alike, seeds left out, by column or dotted name.

    Options that belong to one variant only (`encoding.base` of rope) are left out where the variants differ anyway.
    """
    named = [flat(config) for config in configs]
    names = list(dict.fromkeys(name for settings in named for name in settings if not name.startswith("seeds.")))
    varying = [name for name in names if len({repr(settings.get(name)) for settings in named}) > 1]
    kinds = tuple(name.removesuffix("kind") for name in varying if name.endswith(".kind"))
    distinguishing = [name for name in varying if name.endswith(".kind") or not name.startswith(kinds)]
    return [{COLUMN_OF.get(name, name): settings.get(name) for name in distinguishing} for settings in named]


@dataclass(frozen=True)
class GroupComparison:
    """Two groups at one length: each of them, the comparison, and what a reader should know before believing it."""

    digits: int
    conditions: tuple[str, str]
    names: tuple[str, str]
    runs: tuple[list[str], list[str]]
    summaries: tuple[SeedSummary, SeedSummary]
    result: Comparison
    notes: list[str]

    def __str__(self) -> str:
        return "\n".join([self.result.sentence, *self.notes])


def select(loaded: Loaded, database: Database, condition: str) -> list[Record]:
    """The records that meet a condition."""
    if is_query(condition):
        raise UserError(f"runs: expected a condition such as encoding = 'fire', not {condition!r}")
    chosen = {row[0] for row in database.select(condition, ["id"]).rows}
    return [record for record in loaded.records if record.id in chosen]


def compare_groups(
    loaded: Loaded,
    a: str,
    b: str,
    digits: int,
    names: tuple[str, str] | None = None,
    paired: bool | None = None,
    seconds: float | None = None,
) -> GroupComparison:
    """The runs that meet `a` against those that meet `b`; `seconds` is what each of the conditions may take."""
    database = Database(loaded, metrics=False, seconds=seconds)
    first, second = (select(loaded, database, condition) for condition in (a, b))
    return compare_records((a, first), (b, second), digits, names, paired)


def compare_records(
    one: tuple[str, list[Record]],
    other: tuple[str, list[Record]],
    digits: int,
    names: tuple[str, str] | None = None,
    paired: bool | None = None,
) -> GroupComparison:
    """Two groups, each with the words that chose it; paired by seed if asked, or if there are enough pairs."""
    (a, first), (b, second) = one, other
    short = (a, b) if max(len(a), len(b)) <= SHORT else ("A", "B")
    called = names or short
    both = {record.id for record in first} & {record.id for record in second}
    if both:
        raise UserError(f"compare: {len(both)} runs are in both groups, such as {min(both)}; a run can be in only one")
    scores = (_scores(a, first, digits), _scores(b, second, digits))
    same = scores[0].keys() == scores[1].keys()
    if paired and not same:
        odd = sorted(scores[0].keys() ^ scores[1].keys())
        raise UserError(f"--paired: both groups need the same seeds; only one of them has {', '.join(odd)}")
    pair = paired if paired is not None else same and len(scores[0]) >= LEAST_PAIRS
    return GroupComparison(
        digits=digits,
        conditions=(a, b),
        names=called,
        runs=([record.id for record in first], [record.id for record in second]),
        summaries=(SeedSummary.of(scores[0]), SeedSummary.of(scores[1])),
        result=compare(*scores, paired=pair, names=called, where=f"at {digits} digits"),
        notes=[*_notes(called[0], first, digits), *_notes(called[1], second, digits)],
    )


def _scores(condition: str, records: Sequence[Record], digits: int) -> dict[str, float]:
    """{seed: exact match}; a seed may come only once, or the number of seeds would say more than there is."""
    tested = [record for record in records if digits in record.scores]
    if not tested:
        lengths = lengths_text(length for record in records for length in record.scores)
        reason = "no run meets it" if not records else f"its runs were tested at {lengths or 'no length yet'}"
        raise UserError(f"compare: {condition!r} has no exact match at {digits} digits: {reason}")
    seeds: dict[str, Record] = {}
    for record in tested:
        if record.seed in seeds:
            other = seeds[record.seed]
            differing = differences([other.row["config"], record.row["config"]])[0]
            reason = f"differ in {', '.join(differing)}" if differing else "are copies"
            raise UserError(
                f"compare: {condition!r} has seed {record.seed} twice: runs {other.id} and {record.id} {reason}; "
                "narrow it to one setting"
            )
        seeds[record.seed] = record
    return {seed: record.scores[digits] for seed, record in seeds.items()}


def _notes(name: str, records: Sequence[Record], digits: int) -> list[str]:
    """What a reader should know before believing the sentence."""
    tested = [record for record in records if digits in record.scores]
    settings = group(tested)
    notes = []
    if len(settings) > 1:
        differing = ", ".join(differences([setting.config for setting in settings])[0])
        notes.append(f"Note that {name} mixes {len(settings)} settings, which differ in {differing}.")
    if len(tested) < len(records):
        left = f"{len(records) - len(tested)} of {len(records)} runs"
        notes.append(f"{left} of {name} were not tested at {digits} digits and are left out.")
    return notes
