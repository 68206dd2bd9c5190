"""What the page lists: all seeds of an experiment, how much was run in all, and what differs between settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from statistics import median
from typing import Any

import yaml

from lengthlab.config.schema import Config
from lengthlab.figures.data import Setting, tested_lengths
from lengthlab.paper.tables import Member, Results
from lengthlab.runs.columns import flat
from lengthlab.statistics.lengths import evenly

COLUMNS = 9  # lengths shown at most; the CSV has all


@dataclass(frozen=True)
class Cell:
    """Exact match with its interval, or nothing if this length was not tested."""

    score: str = ""
    interval: str = ""
    inside: bool = False  # a training length


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
    """All runs of an experiment at the same lengths; `examples` says how many sums are behind a score."""

    lengths: list[int]
    examples: str
    lines: list[Line]


def seed_table(settings: Sequence[Setting], members: Sequence[Member], results: Results) -> SeedTable:
    """Every run in declared order, unfinished ones too."""
    lengths = evenly(tested_lengths(settings), COLUMNS, [setting.trained for setting in settings])
    rows = {member.run: results.exact_match(member.run) for member in members}
    numbers = sorted({row["examples"] for found in rows.values() for row in found if row["examples"] is not None})
    lines = []
    for member in members:
        facts = results.trial(member.run)
        by_length = {row["digits"]: row for row in rows[member.run]}
        cells = [_cell(by_length.get(length), length <= (facts["trained_digits"] or 0)) for length in lengths]
        lines.append(Line(member.setting, member.seed, member.run, facts["state"], cells))
    return SeedTable(lengths, " to ".join(f"{number:,}" for number in dict.fromkeys(numbers[:1] + numbers[-1:])), lines)


SHORT = 3  # digits: of longer sums there are so many that next to none is met twice


def sums_met_twice(members: Sequence[Member], results: Results) -> str:
    """How many test sums of few digits occur in training too, as far as the tables say: a sentence, or nothing.

    Training on uniform lengths gives each its share of the examples; where sums grow in training, short ones have more.
    """
    trials = [results.trial(member.run) for member in members]
    seen = [trial["examples"] / trial["trained_digits"] for trial in trials if trial["examples"]]
    tested = {row["digits"] for member in members[:1] for row in results.exact_match(member.run)}
    short = [digits for digits in range(1, SHORT + 1) if digits in tested]
    if not seen or not short:
        return ""
    shares = ", ".join(f"{share_met(digits, median(seen)):.0%} at {digits}" for digits in short)
    return f"Short test sums occur in training too: about {shares} digits, or more."


def share_met(digits: int, seen: float) -> float:
    """The share of all sums of so many digits that are among so many drawn at random.

    >>> f"{share_met(1, 1000):.0%} {share_met(2, 8100):.0%} {share_met(3, 25_000):.0%}"
    '100% 63% 3%'
    """
    return 1 - exp(-seen / (100 if digits == 1 else (9 * 10 ** (digits - 1)) ** 2))


def _cell(row: dict | None, inside: bool) -> Cell:
    if row is None or row["exact_match"] is None:
        return Cell(inside=inside)
    interval = (
        "" if row["low"] is None or row["high"] is None else f"{_cell_text(row['low'])}–{_cell_text(row['high'])}"
    )
    return Cell(_cell_text(row["exact_match"]), interval, inside)


def _cell_text(share: float) -> str:
    """Percent for a table: no sign, and a decimal, which `percent` leaves out of sentences.

    >>> _cell_text(1.0), _cell_text(0.996), _cell_text(0.0004)
    ('100', '99.6', '0.04')
    """
    text = f"{100 * share:.1f}" if 0.001 <= share <= 0.999 or share in (0, 1) else f"{100 * share:.2f}"
    return text.removesuffix(".0")


@dataclass(frozen=True)
class Totals:
    """How much was run, on what."""

    experiments: int
    runs: int
    finished: int
    seeds: str  # for each setting
    hours: float  # of training, one core for each run
    machines: list[str]
    trained: str  # the longest training lengths
    tested: int  # the longest test length
    parameters: str


def totals(results: Results) -> Totals:
    """Every run counts once, in however many experiments it takes part."""
    members = [(name, member) for name in results.experiments() for member in results.members(name)]
    trials = {member.run: results.trial(member.run) for _, member in members}
    finished = [facts for facts in trials.values() if facts["state"] == "finished"]
    seeds: dict[tuple[str, str], set[int]] = {}
    for name, member in members:
        seeds.setdefault((name, member.setting), set()).add(member.seed)
    return Totals(
        experiments=len(results.experiments()),
        runs=len(trials),
        finished=len(finished),
        seeds=_range([len(found) for found in seeds.values()]),
        hours=sum(facts["seconds"] or 0 for facts in trials.values()) / 3600,
        machines=sorted({facts["machine"] for facts in finished if facts["machine"]}),
        trained=_range([facts["trained_digits"] for facts in trials.values() if facts["trained_digits"]]),
        tested=max((row["digits"] for run in trials for row in results.exact_match(run)), default=0),
        parameters=_range([facts["parameters"] for facts in trials.values() if facts["parameters"]]),
    )


def _range(numbers: list[int]) -> str:
    """The lowest and the highest.

    >>> _range([5, 5]), _range([100_000, 2_000_000]), _range([])
    ('5', '100,000 to 2,000,000', 'none')
    """
    if not numbers:
        return "none"
    return " to ".join(f"{number:,}" for number in dict.fromkeys((min(numbers), max(numbers))))


def changed_settings(config: Config, base: Config) -> list[str]:
    """The settings of `config` that are not those of `base`, as the command line takes them."""
    own, shared = (flat(each.model_dump(mode="json")) for each in (config, base))
    changed = [f"{key}={_short(value)}" for key, value in own.items() if key not in shared or shared[key] != value]
    kinds = {text.partition(".kind=")[0] for text in changed if ".kind=" in text}
    # A variant's own defaults come with its name.
    return [text for text in changed if text.partition(".")[0] not in kinds or ".kind=" in text or _said(text, config)]


def _said(text: str, config: Config) -> bool:
    """Whether an option of a variant differs from what the variant's name alone would give."""
    section, _, option = text.partition("=")[0].partition(".")
    options = getattr(config, section, None)
    fields = getattr(type(options), "model_fields", {})
    return option in fields and getattr(options, option) != fields[option].get_default(call_default_factory=True)


def _short(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000).strip().removesuffix("...").strip()
    return text if text != "null" else "none"


def as_yaml(config: Config) -> str:
    """The whole config as a recipe; lists on one line."""
    return yaml.dump(config.model_dump(mode="json"), Dumper=_Dumper, sort_keys=False, width=100)


class _Dumper(yaml.SafeDumper):
    """Lists of numbers on one line."""


_Dumper.add_representer(list, lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data, True))
