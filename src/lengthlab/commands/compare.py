"""`lengthlab compare`: two groups of runs against each other, over their seeds."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from lengthlab.commands.runs import complain, print_json, select
from lengthlab.errors import UserError
from lengthlab.lengths import lengths_text
from lengthlab.runs import runs_folder
from lengthlab.runs_table.database import Database
from lengthlab.runs_table.over_seeds import differences, group
from lengthlab.runs_table.read import Record, read_runs
from lengthlab.statistics import SeedSummary
from lengthlab.statistics import compare as compare_seeds

SHORT = 30  # a condition up to this length can stand in a sentence
FEWEST_PAIRS = 6  # with five, the least p of a paired test is 0.0625


def compare(
    a: str,
    b: str,
    /,
    *,
    digits: Annotated[int, Parameter(help="Length of the problems at which they are compared.")],
    names: Annotated[str | None, Parameter(help="What to call them, such as FIRE,RoPE.")] = None,
    paired: Annotated[
        bool | None,
        Parameter(
            help=f"Pair runs of the same seed. By default: if both groups have the same {FEWEST_PAIRS} or more seeds."
        ),
    ] = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON.")] = False,
) -> None:
    """Compare two groups of runs over their seeds: summaries, difference, permutation test, effect size.

    Parameters
    ----------
    a
        Condition for the first group, as for lengthlab runs.
    b
        Condition for the second group.
    """
    short = [a, b] if max(len(a), len(b)) <= SHORT else ["A", "B"]
    called = [name.strip() for name in names.split(",")] if names else short
    if len(called) != 2 or not all(called):
        raise UserError("--names: two names with a comma between them, such as FIRE,RoPE")
    loaded = read_runs(runs_folder())
    database = Database(loaded, metrics=False)
    complain(loaded)
    groups = [select(loaded, database, condition) for condition in (a, b)]
    both = {record.id for record in groups[0]} & {record.id for record in groups[1]}
    if both:
        raise UserError(f"compare: {len(both)} runs are in both groups, such as {min(both)}; no run can be")
    scores = [_scores(condition, records, digits) for condition, records in zip((a, b), groups, strict=True)]
    notes = [note for name, records in zip(called, groups, strict=True) for note in _notes(name, records, digits)]
    same = scores[0].keys() == scores[1].keys()
    if paired and not same:
        odd = sorted(scores[0].keys() ^ scores[1].keys())
        raise UserError(f"--paired: both groups need the same seeds; only one of them has {', '.join(odd)}")
    pair = paired if paired is not None else same and len(scores[0]) >= FEWEST_PAIRS
    result = compare_seeds(*scores, paired=pair, names=(called[0], called[1]), where=f"at {digits} digits")
    summaries = [SeedSummary.of(found) for found in scores]
    if as_json:
        described = [
            {"name": name, "condition": condition, "runs": [record.id for record in records], **summary.as_dict()}
            for name, condition, records, summary in zip(called, (a, b), groups, summaries, strict=True)
        ]
        sentence = {"digits": digits, "sentence": result.sentence, "notes": notes}
        print_json({"groups": described, "comparison": result.as_dict(), **sentence})
        return
    for name, condition, summary in zip(called, (a, b), summaries, strict=True):
        print(f"{name}{f' ({condition})' if name != condition else ''}: {summary.sentence}")
    print("\n".join(["", result.sentence, *notes]))


def _scores(condition: str, records: Sequence[Record], digits: int) -> dict[str, float]:
    """{seed: exact match}; a seed may come only once, or the number of seeds would say more than there is."""
    tested = [record for record in records if digits in record.scores]
    if not tested:
        lengths = lengths_text(length for record in records for length in record.scores)
        reason = "no run fulfils it" if not records else f"its runs were tested at {lengths or 'no length yet'}"
        raise UserError(f"compare: {condition!r} has no exact match at {digits} digits: {reason}")
    seeds: dict[str, Record] = {}
    for record in tested:
        if record.seed in seeds:
            other = seeds[record.seed]
            differing = differences([other.row["config"], record.row["config"]])[0]
            reason = f"differ in {', '.join(differing)}" if differing else "are copies"
            raise UserError(
                f"compare: {condition!r} has seed {record.seed} twice: runs {other.id} and {record.id} {reason}; "
                "narrow the condition to one setting"
            )
        seeds[record.seed] = record
    return {seed: record.scores[digits] for seed, record in seeds.items()}


def _notes(name: str, records: Sequence[Record], digits: int) -> list[str]:
    """What a reader should know before he believes the sentence."""
    tested = [record for record in records if digits in record.scores]
    settings = group(tested)
    notes = []
    if len(settings) > 1:
        differing = ", ".join(differences([setting.config for setting in settings])[0])
        notes.append(f"Mind that {name} mixes {len(settings)} settings, which differ in {differing}.")
    if len(tested) < len(records):
        left = len(records) - len(tested)
        notes.append(f"{left} of {len(records)} runs of {name} were not tested at {digits} digits and are left out.")
    return notes
