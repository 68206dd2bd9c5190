"""`lengthlab runs`: list and filter runs, or query all of them with SQL."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from lengthlab.cli.console import Screen, complain, duration, plural, print_csv, print_json, table, visible
from lengthlab.cli.parameters import Json, flag
from lengthlab.errors import UserError

if TYPE_CHECKING:
    from lengthlab.runs.database import Database, Result
    from lengthlab.runs.reader import Loaded

COLOURS = {"finished": "green", "running": "cyan", "interrupted": "yellow", "stopped": "yellow", "failed": "red"}
FIRST = (
    "id",
    "recipe",
    "encoding",
    "positions",
    "state",
)  # then scores, seed, other settings, the rest: if there is room
REST = ("final_loss", "seconds", "step", "final_accuracy", "started", "parameters")
RESUMED = 3  # unfinished runs for which the command that resumes them is printed


def runs(
    condition: Annotated[
        str | None,
        Parameter(
            help="A condition that runs must meet, or SQL starting with SELECT, WITH, FROM, DESCRIBE or SUMMARIZE."
        ),
    ] = None,
    /,
    *,
    columns: Annotated[str | None, Parameter(help="Columns to show, such as id,encoding,hints, or all.")] = None,
    sort: Annotated[
        str | None,
        Parameter(help="Column to sort by, -COLUMN for descending; by time if not given.", allow_leading_hyphen=True),
    ] = None,
    over_seeds: Annotated[bool, flag("Summarize runs that differ only in their seeds.")] = False,
    digits: Annotated[str | None, Parameter(help="With --over-seeds: lengths, such as 10,15,20.")] = None,
    threshold: Annotated[
        float, Parameter(help="With --over-seeds: the exact match from which a length counts as mastered.")
    ] = 0.9,
    as_csv: Annotated[bool, flag("Print CSV.", "--csv")] = False,
    as_json: Json = False,
) -> None:
    """List and filter runs, or query all of them with SQL.

    lengthlab runs "encoding = 'fire' and exact_match_20 > 0.9"
    lengthlab runs "select encoding, max(exact_match_20) from runs group by all"

    Tables: runs, evaluation (a row for each run, weights and length) and
    metrics (the lines of metrics.jsonl), joined by id. "describe runs" lists
    the columns of one. Any setting: (config->>'$.training.growth')::double
    """
    from lengthlab.runs.database import Database, is_query

    condition = condition or ""
    if as_csv and as_json:
        raise UserError("runs: either --csv or --json")
    if (columns or sort or over_seeds) and is_query(condition):
        raise UserError(
            "runs: --columns, --sort and --over-seeds go with a condition; in SQL they are part of the query"
        )
    if (digits or threshold != 0.9) and not over_seeds:
        raise UserError("runs: --digits and --threshold go with --over-seeds")
    loaded = read_all()
    database = Database(loaded, metrics="metrics" in condition.lower())
    if not loaded.records and not as_json and not as_csv:
        Screen().put(f"no runs in {loaded.folder} yet: lengthlab train zhou2024-mini makes one")
        return
    if over_seeds:
        from lengthlab.cli.over_seeds import print_over_seeds
        from lengthlab.runs.groups import select

        chosen = select(loaded, database, condition)
        print_over_seeds(chosen, len(loaded.records), digits, threshold, as_csv, as_json)
        return
    result = _result(database, condition, columns, sort, everything=as_csv or as_json)
    if as_json:
        print_json(result.dicts())
    elif as_csv:
        print_csv(result.columns, result.rows)
    elif is_query(condition) or columns:
        _print_result(result, Screen())
    elif not result.rows:
        Screen().put(f"none of {plural(len(loaded.records), 'run')} meets {condition}")
    else:
        _print_view(result, Screen(), loaded)


def read_all() -> "Loaded":
    """All runs; what cannot be read is reported on standard error."""
    from lengthlab.runs.reader import read_runs
    from lengthlab.runs.run import runs_folder

    loaded = read_runs(runs_folder())
    if loaded.complaint:
        complain(loaded.complaint, "yellow")
    return loaded


def _result(database: "Database", condition: str, columns: str | None, sort: str | None, everything: bool) -> "Result":
    from lengthlab.runs.database import is_query

    if is_query(condition):
        return database.query(condition)
    named = [name.strip() for name in columns.split(",")] if columns and columns != "all" else []
    if not named and (everything or columns):
        named = [name for name in database.columns if name != "config"]  # which repeats all others, at length
    return database.select(condition, named, sort or "")


@dataclass(frozen=True)
class Choice:
    """The columns to show, what is the same in all rows, which seeds follow from another, and what has no room."""

    columns: list[str]
    constant: dict[str, Any]
    same_as_weights: list[str]
    left_out: list[str]


def _choose(rows: Sequence[dict[str, Any]], width: int) -> Choice:
    """Columns of `runs` that tell these rows apart and fit into `width` characters."""
    from lengthlab.runs.columns import SEEDS, SETTINGS

    settings = [column.name for column in SETTINGS]
    seeds = [column.name for column in SEEDS]
    known = [name for name in dict.fromkeys((*FIRST, seeds[0], *settings, *seeds, *REST)) if name in rows[0]]
    varying = {name for name in known if len({row[name] for row in rows} - {None}) > 1}
    constant = {name: value for name in settings if name not in varying and (value := _any(rows, name)) is not None}
    same = [name for name in seeds[1:] if all(row[name] == row[seeds[0]] for row in rows)]
    shown = [name for name in known if name in varying or len(rows) == 1 or name == "id"]
    shown = [name for name in shown if name not in same and _any(rows, name) is not None]
    first = [name for name in FIRST if name in shown]
    wanted = [*first, *_scores(rows), *(name for name in shown if name not in first)]
    chosen, room = [], width - 2
    for name in wanted:
        lines = [*_heading(name).split("\n"), *(_cell(name, row[name]) for row in rows)]
        needed = 2 + max(map(len, lines))
        if needed <= room:
            chosen.append(name)
            room -= needed
    left_out = [name for name in wanted if name not in chosen]
    ordered = sorted(chosen, key=[*FIRST, *rows[0]].index)
    return Choice(ordered, constant if len(rows) > 1 else {}, same, left_out)


def _any(rows: Sequence[dict[str, Any]], name: str) -> Any:
    return next((row[name] for row in rows if row[name] is not None), None)


def _scores(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The columns of a few lengths, among those that half of the tested rows have."""
    from lengthlab.statistics.lengths import few_lengths

    scored = [row for row in rows if row["weights"] is not None]
    names = [name for name in rows[0] if name.startswith("exact_match_")]
    usual = [name for name in names if 2 * sum(row[name] is not None for row in scored) >= max(1, len(scored))]
    tested = [int(name.removeprefix("exact_match_")) for name in usual]
    trained = max((row["trained_digits"] for row in scored), default=1)
    return [f"exact_match_{length}" for length in few_lengths(trained, tested)]


def _heading(name: str) -> str:
    """A column's name on several lines if it is long, so that narrow numbers can stand beneath it."""
    return name.replace("_", "_\n") if len(name) > 8 else name


def _cell(name: str, value: Any) -> str:
    """A value as text: scores in percent, times without seconds, numbers with the digits that matter."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, float):
        if re.match(r"exact_match|final_accuracy|accuracy|low$|high$", name):
            return f"{value:.1%}"
        return duration(value) if name == "seconds" else f"{value:.4g}"
    return visible(str(value))


def _print_view(result: "Result", console: Screen, loaded: "Loaded") -> None:
    """The table, and in a few lines what it leaves out."""
    from lengthlab.runs.groups import differences
    from lengthlab.runs.run import Run

    rows, total = result.dicts(), len(loaded.records)
    shown = _choose(rows, console.width)
    console.print(_table(result, shown.columns))
    states = ", ".join(f"{count} {state}" for state, count in Counter(row["state"] for row in rows).items())
    of_all = f"{len(rows)} of {total} runs" if len(rows) < total else plural(total, "run")
    console.say(f"{of_all}: {states}")
    dead = [row["id"] for row in rows if row["state"] in ("stopped", "interrupted")]
    for run in dead[:RESUMED]:
        console.put(f"to resume: {Run(loaded.folder / run).resume_command}", "yellow")
    if len(dead) > RESUMED:
        console.say(f"and {len(dead) - RESUMED} more like that", "yellow")
    if shown.constant:
        same = ", ".join(f"{name} {_cell(name, value)}" for name, value in shown.constant.items())
        console.say(f"the same in all: {same}", "dim")
    if shown.same_as_weights and len(rows) > 1:
        console.say(f"{' and '.join(shown.same_as_weights)}: the same as seed_weights", "dim")
    hidden = [name for name in differences([row["config"] for row in rows])[0] if name not in result.columns]
    if hidden:
        console.say(f"they differ in more than columns show: {_some(hidden)}", "dim")
    left_out = f"no room for {_some(shown.left_out)}; " if shown.left_out else ""
    console.say(f"{left_out}--columns a,b chooses columns, --columns all shows every one", "dim")


def _some(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _print_result(result: "Result", console: Screen) -> None:
    """A table, however wide if nobody looks; on a terminal that is too narrow, a line for each cell."""
    made = _table(result, result.columns)
    width = console.needs(made)
    if not console.is_terminal:
        Screen(width=max(width, console.width)).print(made)
    elif width <= console.width:
        console.print(made)
    else:
        longest = max(map(len, result.columns))
        for row in result.dicts():
            for name, value in row.items():
                console.put(f"{name:<{longest}}  {_cell(name, value)}")
            console.put()
    console.say(plural(len(result.rows), "row"))


def _table(result: "Result", columns: Sequence[str]) -> Table:
    made = table("", ())
    for name in columns:
        values = [row[result.columns.index(name)] for row in result.rows]
        is_text = any(isinstance(value, str | datetime | dict | list) for value in values)
        made.add_column(Text(_heading(name)), justify="left" if is_text else "right", overflow="fold")
    for row in result.dicts():
        cells = [Text(_cell(name, row[name])) for name in columns]
        if "state" in columns:
            cells[columns.index("state")].stylize(COLOURS.get(str(row["state"]), ""))
        made.add_row(*cells)
    return made
