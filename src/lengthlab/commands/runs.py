"""`lengthlab runs`: list and filter runs, or ask all of them in SQL."""

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from math import isfinite
from typing import Annotated, Any

from cyclopts import Parameter
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lengthlab.errors import UserError
from lengthlab.runs import runs_folder
from lengthlab.runs_table.database import Database, Result, is_query
from lengthlab.runs_table.over_seeds import differences
from lengthlab.runs_table.read import Loaded, Record, read_runs
from lengthlab.runs_table.shown import cell, header, view

COLOURS = {"finished": "green", "running": "cyan", "interrupted": "yellow", "failed": "red"}


def runs(
    condition: str | None = None,
    /,
    *,
    columns: Annotated[str | None, Parameter(help="Columns to show, such as id,encoding,hints, or all.")] = None,
    sort: Annotated[
        str | None,
        Parameter(help="Column to sort by; -COLUMN for descending. By time if not given.", allow_leading_hyphen=True),
    ] = None,
    over_seeds: Annotated[
        bool, Parameter(negative="", show_default=False, help="Take runs that differ only in their seeds together.")
    ] = False,
    digits: Annotated[str | None, Parameter(help="With --over-seeds: lengths, such as 10,15,20.")] = None,
    threshold: Annotated[
        float, Parameter(help="With --over-seeds: exact match from which on a length counts as mastered.")
    ] = 0.9,
    as_csv: Annotated[bool, Parameter(name="--csv", negative="", show_default=False, help="Print CSV.")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON.")] = False,
) -> None:
    """List runs, all or those that fulfil a condition, or ask all of them in SQL.

    Parameters
    ----------
    condition
        What a run must fulfil, or SQL that starts with SELECT, WITH, FROM, DESCRIBE or SUMMARIZE.
    """
    condition = condition or ""
    if as_csv and as_json:
        raise UserError("runs: either --csv or --json")
    if (columns or sort or over_seeds) and is_query(condition):
        raise UserError("runs: --columns, --sort and --over-seeds go with a condition; SQL has its own ways to say it")
    if (digits or threshold != 0.9) and not over_seeds:
        raise UserError("runs: --digits and --threshold go with --over-seeds")
    loaded = read_runs(runs_folder())
    database = Database(loaded, metrics="metrics" in condition.lower())
    complain(loaded)
    if not loaded.records and not as_json and not as_csv:
        print(f"no runs in {loaded.folder} yet: lengthlab train zhou2024-mini makes one")
        return
    if over_seeds:
        from lengthlab.commands.over_seeds import print_over_seeds

        chosen = select(loaded, database, condition)
        print_over_seeds(chosen, len(loaded.records), digits, threshold, as_csv, as_json)
        return
    result = _result(database, condition, columns, sort, everything=as_csv or as_json)
    if as_json:
        print_json(result.dicts())
    elif as_csv:
        print_csv(result.columns, result.rows)
    elif is_query(condition) or columns:
        _print_result(result, make_console())
    elif not result.rows:
        print(f"none of {len(loaded.records)} runs fulfils {condition}")
    else:
        _print_view(result, make_console(), len(loaded.records))


def make_console() -> Console:
    """As wide as the terminal, and 100 columns at least where there is none."""
    found = Console()
    return found if found.is_terminal else Console(width=max(100, found.width))


def complain(loaded: Loaded) -> None:
    """Say on standard error what was skipped, if anything was."""
    if loaded.complaint:
        note = f"lengthlab: {loaded.complaint}"
        Console(stderr=True).print(note, style="yellow", markup=False, highlight=False, soft_wrap=True)


def select(loaded: Loaded, database: Database, condition: str) -> list[Record]:
    """The records that fulfil a condition."""
    if is_query(condition):
        raise UserError(f"runs: a condition is wanted, such as encoding = 'fire', not {condition!r}")
    chosen = {row[0] for row in database.select(condition, ["id"]).rows}
    return [record for record in loaded.records if record.id in chosen]


def _result(database: Database, condition: str, columns: str | None, sort: str | None, everything: bool) -> Result:
    if is_query(condition):
        return database.query(condition)
    named = [name.strip() for name in columns.split(",")] if columns and columns != "all" else []
    if not named and (everything or columns):
        named = [name for name in database.columns if name != "config"]  # which repeats all others, at length
    return database.select(condition, named, sort or "")


def _print_view(result: Result, console: Console, total: int) -> None:
    def say(text: str, style: str = "") -> None:
        console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)

    rows = result.dicts()
    shown = view(rows, console.width)
    console.print(_table(result, shown.columns), soft_wrap=True)
    states = ", ".join(f"{count} {state}" for state, count in Counter(row["state"] for row in rows).items())
    of_all = f" of {total}" if len(rows) < total else ""
    say(f"{len(rows)}{of_all} run{'s' if total > 1 else ''}: {states}")
    if shown.constant:
        same = ", ".join(f"{name} {cell(name, value)}" for name, value in shown.constant.items())
        say(f"the same in all: {same}", "dim")
    if shown.same_as_weights and len(rows) > 1:
        say(f"{' and '.join(shown.same_as_weights)}: the same as seed_weights", "dim")
    hidden = [name for name in differences([row["config"] for row in rows])[0] if name not in result.columns]
    if hidden:
        say(f"they differ in more than columns show: {', '.join(hidden)}", "dim")
    left_out = f"no room for {', '.join(shown.left_out)}; " if shown.left_out else ""
    say(f"{left_out}--columns a,b chooses columns, --columns all shows every one", "dim")


def _print_result(result: Result, console: Console) -> None:
    """A table, however wide if nobody looks; on a terminal that is too narrow, a line for each cell."""
    table = _table(result, result.columns)
    width = table.__rich_measure__(console, console.options.update(max_width=100_000)).maximum
    if not console.is_terminal:
        Console(width=max(width, console.width)).print(table)
    elif width <= console.width:
        console.print(table)
    else:
        longest = max(map(len, result.columns))
        for row in result.dicts():
            lines = [f"{name:<{longest}}  {cell(name, value)}" for name, value in row.items()]
            console.print("\n".join([*lines, ""]), highlight=False, markup=False, soft_wrap=True)
    print(f"{len(result.rows)} row{'s' if len(result.rows) != 1 else ''}")


def _table(result: Result, columns: Sequence[str]) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in columns:
        values = [row[result.columns.index(name)] for row in result.rows]
        is_text = any(isinstance(value, str | datetime | dict | list) for value in values)
        table.add_column(Text(header(name)), justify="left" if is_text else "right", overflow="fold")
    for row in result.dicts():
        cells = [Text(cell(name, row[name])) for name in columns]
        if "state" in columns:
            cells[columns.index("state")].stylize(COLOURS.get(str(row["state"]), ""))
        table.add_row(*cells)
    return table


def print_json(value: Any) -> None:
    print(json.dumps(_plain(value), indent=2))


def _plain(value: Any) -> Any:
    """What JSON can say: no NaN, no moments."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)


def print_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """CSV with a header; what is missing is empty, what is nested is JSON."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([json.dumps(_plain(value)) if isinstance(value, dict | list) else value for value in row])
