"""`lengthlab runs --over-seeds`: each setting once, with what its seeds say together."""

from collections.abc import Sequence
from statistics import fmean, median
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from lengthlab.commands.runs import make_console, print_csv, print_json
from lengthlab.errors import UserError
from lengthlab.lengths import lengths_text, parse_lengths
from lengthlab.runs_table.over_seeds import Group, differences, group, telling_lengths
from lengthlab.runs_table.read import Record
from lengthlab.statistics import LEVELS, percent


def print_over_seeds(
    records: Sequence[Record], total: int, digits: str | None, threshold: float, as_csv: bool, as_json: bool
) -> None:
    """Summaries of `records` (of `total` runs), grouped by setting, as tables, CSV or JSON."""
    if not 0 < threshold <= 1:
        raise UserError("--threshold: above 0 and at most 1, such as 0.9")
    groups = [found for found in group(records) if found.tested]
    lengths = _lengths(groups, digits)
    described = describe(groups, lengths, threshold)
    if as_json:
        print_json(described)
    elif as_csv:
        rows = [row for one in described for row in _flat(one)]
        columns = list(dict.fromkeys(name for row in rows for name in row))
        print_csv(columns, [[row.get(name) for name in columns] for row in rows])
    else:
        _print(groups, described, len(records), total)


def _lengths(groups: Sequence[Group], digits: str | None) -> list[int]:
    try:
        asked = list(parse_lengths(digits)) if digits else []
    except ValueError as error:
        raise UserError(f"--digits: {error}") from None
    tested = sorted({length for found in groups for length in found.lengths})
    if groups and not set(asked) <= set(tested):
        missing = lengths_text(set(asked) - set(tested))
        raise UserError(f"--digits: no run was tested at {missing} digits; tested lengths are {lengths_text(tested)}")
    return asked or telling_lengths(max((found.trained for found in groups), default=1), tested, most=4)


def describe(groups: Sequence[Group], lengths: Sequence[int], threshold: float) -> list[dict[str, Any]]:
    """For each group: how its setting differs from the others, its runs, how far it generalizes, and its scores."""
    described = []
    for found, differing in zip(groups, differences([found.config for found in groups]), strict=True):
        reached = found.generalization(threshold)
        factors = [one.factor for one in reached.values()]
        described.append(
            {
                "setting": found.records[0].row["setting"],
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
    start = {"setting": one["setting"], **one["differs_in"], "trained_digits": one["trained_digits"]}
    return [start | length | factor for length in one["lengths"]]


def _print(groups: Sequence[Group], described: Sequence[dict[str, Any]], chosen: int, total: int) -> None:
    out = make_console()
    if not described:
        print(f"{chosen} of {total} runs fulfil this and none of them has an evaluation")
        return
    names = list(described[0]["differs_in"]) or ["setting"]
    labels = [[str(one["differs_in"].get(name, one["setting"])) for name in names] for one in described]
    out.print(_scores_table(names, labels, described))
    out.print(_factor_table(names, labels, described))
    used = sum(len(one["runs"]) for one in described)
    count = f"{len(described)} setting{'s' if len(described) > 1 else ''}, {used} of {total} runs"
    left = f"; {chosen - used} left out, which have no evaluation or are copies" if used < chosen else ""
    out.print(count + left, highlight=False, soft_wrap=True)
    trained = sorted({found.trained for found in groups})
    explained = (
        f"trained on 1-{' or 1-'.join(map(str, trained))} digits; 95% intervals of the mean, bootstrapped over seeds; "
        "the factor is the longest length up to which every tested length is mastered, over the training length"
    )
    out.print(explained, style="dim", highlight=False, soft_wrap=True)


def _scores_table(names: list[str], labels: list[list[str]], described: Sequence[dict[str, Any]]) -> Table:
    """A section for each length, a row for each setting. The number of seeds stands in every row."""
    levels = "/".join(f"{level * 100:.0f}" for level in LEVELS)
    right = ("mean", "95% interval", "median", "best", "worst", "seeds", f"seeds with\n{levels}%")
    table = _table("Exact match over seeds", ("digits", *names), right)
    lengths = sorted({length["digits"] for one in described for length in one["lengths"]})
    for digits in lengths:
        for label, one in zip(labels, described, strict=True):
            for row in one["lengths"]:
                if row["digits"] == digits:
                    table.add_row(str(digits), *label, *_score_cells(row))
        table.add_section()
    return table


def _score_cells(row: dict[str, Any]) -> list[str]:
    interval = "" if row["low"] is None else f"{percent(row['low'])} to {percent(row['high'])}"
    middle = [percent(row[name]) for name in ("median", "best", "worst")]
    reached = "/".join(str(round(row[f"share_{level * 100:.0f}"] * row["n"])) for level in LEVELS)
    return [percent(row["mean"]), interval, *middle, str(row["n"]), reached]


def _factor_table(names: list[str], labels: list[list[str]], described: Sequence[dict[str, Any]]) -> Table:
    threshold = described[0]["generalization_factor"]["threshold"]
    title = f"Generalization factor, at least {percent(threshold)} exact match"
    table = _table(title, names, ("mean", "median", "best", "worst", "seeds", "passed\nevery test"))
    for label, one in zip(labels, described, strict=True):
        factor = one["generalization_factor"]
        cells = [f"{factor[name]:.2f}" for name in ("mean", "median", "best", "worst")]
        table.add_row(*label, *cells, str(factor["n"]), str(factor["passed_every_test"]))
    return table


def _table(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in left:
        table.add_column(name, overflow="fold")
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    return table
