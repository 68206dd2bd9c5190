"""`lengthlab runs --over-seeds`: each setting once, with what its seeds say together."""

from collections.abc import Sequence
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from rich.table import Table

from lengthlab.cli.console import Screen, plural, print_csv, print_json, table
from lengthlab.cli.parameters import lengths as parse
from lengthlab.config.lengths import lengths_text
from lengthlab.errors import UserError

if TYPE_CHECKING:
    from lengthlab.runs.groups import Group
    from lengthlab.runs.reader import Record

FIRST = ("recipe", "encoding", "positions")  # what names a group, if it varies
FEW = 3  # settings that name a group; more would leave no room for its scores


def print_over_seeds(
    records: "Sequence[Record]", total: int, digits: str | None, threshold: float, as_csv: bool, as_json: bool
) -> None:
    """Summaries of `records` (of `total` runs), grouped by setting, as tables, CSV or JSON."""
    from lengthlab.runs.groups import group

    if not 0 < threshold <= 1:
        raise UserError("--threshold: above 0 and at most 1, such as 0.9")
    groups = [found for found in group(records) if found.tested]
    described = _describe(groups, _lengths(groups, digits), threshold)
    if as_json:
        print_json(described)
    elif as_csv:
        rows = [row for one in described for row in _flat(one)]
        columns = list(dict.fromkeys(name for row in rows for name in row))
        print_csv(columns, [[row.get(name) for name in columns] for row in rows])
    else:
        _print(groups, described, len(records), total)


def _lengths(groups: "Sequence[Group]", digits: str | None) -> list[int]:
    from lengthlab.statistics.lengths import few_lengths

    asked = list(parse("--digits", digits)) if digits else []
    tested = sorted({length for found in groups for length in found.lengths})
    if groups and not set(asked) <= set(tested):
        missing = lengths_text(set(asked) - set(tested))
        raise UserError(f"--digits: no run was tested at {missing} digits; tested lengths are {lengths_text(tested)}")
    return asked or few_lengths(max((found.trained for found in groups), default=1), tested, most=4)


def _describe(groups: "Sequence[Group]", lengths: Sequence[int], threshold: float) -> list[dict[str, Any]]:
    """For each group: how its setting differs from the others, its runs, how far it generalizes, and its scores."""
    from lengthlab.runs.groups import differences

    described = []
    for found, differing in zip(groups, differences([found.config for found in groups]), strict=True):
        reached = found.generalization(threshold)
        factors = [one.factor for one in reached.values()]
        row = found.records[0].row
        described.append(
            {
                "setting": row["setting"],
                "recipe": row.get("recipe"),
                "differs_in": differing,
                "trained_digits": found.trained,
                "runs": [record.id for record in found.tested],
                "runs_without_evaluation": sum(not record.scores for record in found.records),
                "generalization_factor": {
                    "threshold": threshold,
                    "n": len(factors),
                    "mean": fmean(factors),
                    "median": median(factors),
                    "best": max(factors),
                    "worst": min(factors),
                    "passed_every_test": sum(one.is_limit for one in reached.values()),
                    "seeds": {seed: one.factor for seed, one in reached.items()},
                },
                "lengths": [
                    {"digits": length, **summary.as_dict()} for length in lengths if (summary := found.summary(length))
                ],
            }
        )
    return described


def _flat(one: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each length."""
    factor = {f"factor_{name}": one["generalization_factor"][name] for name in ("threshold", "median", "best", "worst")}
    start = {"setting": one["setting"], "recipe": one["recipe"], **one["differs_in"]}
    return [start | {"trained_digits": one["trained_digits"]} | length | factor for length in one["lengths"]]


def names_of(described: Sequence[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """How to call groups in a table: by recipe, and by as few of the settings in which they differ as tell them apart.

    Returns the headings and the cells of each group. Groups that few settings cannot tell apart are named by the hash
    of their settings too.
    """
    known = [{"recipe": one["recipe"], **one["differs_in"]} for one in described]
    order = list(dict.fromkeys((*FIRST, *(known[0] if known else ()))))
    varying = [name for name in order if len({repr(cells.get(name)) for cells in known}) > 1]

    def parts(names: Sequence[str]) -> int:
        return len({repr([cells[name] for name in names]) for cells in known})

    chosen = ["recipe"] if "recipe" in varying else []
    while len(chosen) < FEW and parts(chosen) < len(known):
        best = max(
            (name for name in varying if name not in chosen), key=lambda name: parts([*chosen, name]), default=None
        )
        if best is None or parts([*chosen, best]) == parts(chosen):
            break
        chosen.append(best)
    cells = [["" if row[name] is None else str(row[name]) for name in chosen] for row in known]
    if parts(chosen) < len(known) or not chosen:
        return ["setting", *chosen], [[one["setting"], *row] for one, row in zip(described, cells, strict=True)]
    return chosen, cells


def _print(groups: "Sequence[Group]", described: Sequence[dict[str, Any]], chosen: int, total: int) -> None:
    out = Screen()
    if not described:
        out.say(f"{chosen} of {plural(total, 'run')} meet this, and none of them has an evaluation")
        return
    names, labels = names_of(described)
    headings = names
    if out.needs(_scores_table(names, labels, described)) > out.width:  # names above, or the numbers would be squeezed
        for number, label in enumerate(labels, 1):
            told = zip(names, label, strict=True)
            out.say(f"{number:>2}  {', '.join(cell if name == 'recipe' else f'{name} {cell}' for name, cell in told)}")
        out.say()
        headings, labels = ["setting"], [[str(number)] for number in range(1, len(labels) + 1)]
    out.print(_scores_table(headings, labels, described))
    out.say()
    out.print(_factor_table(headings, labels, described))
    out.say()
    used = sum(len(one["runs"]) for one in described)
    left = f"; {chosen - used} left out, which have no evaluation or are copies" if used < chosen else ""
    out.say(f"{plural(len(described), 'setting')}, {used} of {plural(total, 'run')}{left}")
    more = len(set(described[0]["differs_in"]) - set(names))
    if more and len(described) > 1:
        example = f"lengthlab diff {described[0]['runs'][0]} {described[1]['runs'][0]}"
        out.say(f"they differ in {plural(more, 'more setting')} than shown: {example}", "dim")
    trained = sorted({found.trained for found in groups})
    out.say(
        f"trained on 1-{' or 1-'.join(map(str, trained))} digits; 95% intervals of the mean over seeds; "
        "the factor is the longest length up to which every tested length is mastered, over the training length",
        "dim",
    )


def _scores_table(names: list[str], labels: list[list[str]], described: Sequence[dict[str, Any]]) -> Table:
    """A section for each length, a row for each setting. Every row has the number of seeds."""
    from lengthlab.statistics import LEVELS

    levels = "/".join(f"{level * 100:.0f}" for level in LEVELS)
    right = ("mean", "95%\ninterval", "median", "best", "worst", "seeds", f"with\n{levels}%")
    made = table("Exact match over seeds", ("digits", *names), right)
    for digits in sorted({length["digits"] for one in described for length in one["lengths"]}):
        for label, one in zip(labels, described, strict=True):
            for row in one["lengths"]:
                if row["digits"] == digits:
                    made.add_row(str(digits), *label, *_score_cells(row))
        made.add_section()
    return made


def _score_cells(row: dict[str, Any]) -> list[str]:
    from lengthlab.statistics import LEVELS, percent

    interval = "" if row["low"] is None else f"{percent(row['low'])} to {percent(row['high'])}"
    middle = [percent(row[name]) for name in ("median", "best", "worst")]
    reached = "/".join(str(round(row[f"share_{level * 100:.0f}"] * row["n"])) for level in LEVELS)
    return [percent(row["mean"]), interval, *middle, str(row["n"]), reached]


def _factor_table(names: list[str], labels: list[list[str]], described: Sequence[dict[str, Any]]) -> Table:
    from lengthlab.statistics import percent

    threshold = described[0]["generalization_factor"]["threshold"]
    title = f"Generalization factor, at least {percent(threshold)} exact match"
    made = table(title, names, ("mean", "median", "best", "worst", "seeds", "passed\nevery test"))
    for label, one in zip(labels, described, strict=True):
        factor = one["generalization_factor"]
        cells = [f"{factor[name]:.2f}" for name in ("mean", "median", "best", "worst")]
        made.add_row(*label, *cells, str(factor["n"]), str(factor["passed_every_test"]))
    return made
