"""What DuckDB has to say against a query, in one sentence with the nearest valid choice."""

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches

import duckdb

from lengthlab.errors import suggestion
from lengthlab.lengths import lengths_text

COLUMN = re.compile(r'Referenced column "(.+?)" not found|does not have a column named "(.+?)"')
TABLE = re.compile(r'Table with name (.+?) does not exist|Referenced table "(.+?)" not found')
SCORE = re.compile(r"exact_match_\d+")
NEAR = re.compile(r'syntax error at or near "(.+?)"')


def explain(
    error: duckdb.Error | str, typed: str, tables: Mapping[str, Collection[str]], values: Collection[str]
) -> str:
    """One sentence on an error (or on the name of a column that does not exist) in what the user typed.

    `tables` are the columns by table, `values` the texts that stand in them.
    """
    message = str(error)
    if isinstance(error, str):
        return _no_column(error, {"runs": tables["runs"]}, values)
    named = {table: columns for table, columns in tables.items() if re.search(rf"\b{table}\b", typed)}
    if match := COLUMN.search(message):
        return _no_column(match[1] or match[2], named or {"runs": tables["runs"]}, values)
    if match := TABLE.search(message):
        name = match[1] or match[2]
        return f"runs: no table {name!r}; {suggestion(name, tables)}"
    reason = message.split("\n")[0].partition("Error: ")[2].rstrip("!") or message.split("\n")[0]
    if isinstance(error, duckdb.PermissionException):
        return "runs: only the tables runs, evaluation and metrics can be read, no files"
    if match := NEAR.search(message):
        near = get_close_matches(match[1], tables["runs"], n=1)
        reason += f" (did you mean {near[0]}?)" if near and match[1] not in tables["runs"] else ""
    return f"runs: {typed.strip()!r}: {reason}"


def _no_column(name: str, tables: Mapping[str, Collection[str]], values: Collection[str]) -> str:
    columns = list(dict.fromkeys(column for table in tables.values() for column in table))
    scores = [column for column in columns if SCORE.fullmatch(column)]
    if name in values:
        return f"runs: no column {name!r}; texts stand in single quotes: '{name}'"
    if SCORE.fullmatch(name) and "runs" in tables:
        tested = lengths_text(int(column.removeprefix("exact_match_")) for column in scores)
        lengths = f"tested lengths are {tested}" if tested else "none has been tested at all yet"
        return f"runs: no column {name!r}: no run was tested at {name.removeprefix('exact_match_')} digits; {lengths}"
    few = [column for column in columns if column not in scores] + ["exact_match_N"] * bool(scores)
    return f"runs: no column {name!r}; {suggestion(name, columns if get_close_matches(name, columns) else few)}"
