"""The records in DuckDB, in memory: tables `runs`, `evaluation` and `metrics`, queried by a condition or with SQL.

What a user writes can read these tables and nothing else: file access is switched off, the configuration is locked, and
only a single SELECT statement is run.
"""

import json
import re
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any

import duckdb

from lengthlab.config.lengths import lengths_text
from lengthlab.errors import UserError, suggestion
from lengthlab.runs.columns import RUNS, Row, SqlType, is_number, is_whole
from lengthlab.runs.reader import Loaded, Skipped

QUERY = re.compile(r"\s*\(*\s*(select|with|from|describe|summarize)\b", re.IGNORECASE)
LOCKED = (
    "SET python_enable_replacements = false",  # or a query could read variables of this program
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
AT_ONCE = 10_000  # rows sent to the database in one piece
NO_COLUMN = re.compile(r'Referenced column "(.+?)" not found|does not have a column named "(.+?)"')
NO_TABLE = re.compile(r'Table with name (.+?) does not exist|Referenced table "(.+?)" not found')
SCORE = re.compile(r"exact_match_\d+")
NEAR = re.compile(r'syntax error at or near "(.+?)"')


@dataclass(frozen=True)
class Result:
    """What a query found."""

    columns: list[str]
    rows: list[tuple[Any, ...]]

    def dicts(self) -> list[Row]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def is_query(text: str) -> bool:
    """Whether a text is SQL of its own rather than a condition.

    >>> is_query("select id from runs"), is_query("encoding = 'fire'")
    (True, False)
    """
    return QUERY.match(text) is not None


class Database:
    """The tables of all runs, ready for queries."""

    def __init__(self, loaded: Loaded, metrics: bool = True, seconds: float | None = None) -> None:
        """`metrics`: whether the lines of metrics.jsonl are wanted; there may be many. `seconds`: for one query."""
        self._loaded, self._seconds = loaded, seconds
        self._tables: dict[str, list[str]] = {}  # the columns of each
        self._connection = duckdb.connect(config={"threads": 1})
        lengths = sorted({length for record in loaded.records for length in record.scores})
        types: dict[str, SqlType] = {column.name: column.type for column in RUNS}
        types.update((f"exact_match_{length}", "DOUBLE") for length in lengths)
        scored = (
            record.row | {f"exact_match_{length}": score for length, score in record.scores.items()}
            for record in loaded.records
        )
        self._fill("runs", types, scored)
        rows = [row for record in loaded.records for row in record.evaluation]
        self._fill("evaluation", _types(rows, ("id", "weights", "digits", "exact_match")), rows)
        lines = [line for record in loaded.records for line in record.metrics] if metrics else []
        self._fill("metrics", _types(lines, ("id", "step", "loss", "accuracy", "exact_match")), lines)
        for setting in LOCKED:
            self._connection.execute(setting)

    @property
    def columns(self) -> list[str]:
        """Of the table `runs`."""
        return self._tables["runs"]

    def select(self, condition: str = "", columns: Sequence[str] = (), order: str = "") -> Result:
        """The rows of `runs` that fulfil a condition (all if it is empty), in the order in which they began."""
        chosen = ", ".join(f'"{self._column(name)}"' for name in columns) or "*"
        name = order.removeprefix("-")
        direction = "DESC" if order.startswith("-") else "ASC"
        by = f'ORDER BY "{self._column(name)}" {direction} NULLS LAST' if name else ""
        # The condition stands on a line of its own, so that a comment at its end hides nothing.
        return self.query(f"SELECT {chosen} FROM runs WHERE (\n{condition or 'true'}\n) {by}", condition)

    def query(self, sql: str, typed: str | None = None) -> Result:
        """The result of one SELECT statement. `typed` is the part that the user typed, if not all of it."""
        typed = sql if typed is None else typed
        late = threading.Event()
        timer = threading.Timer(self._seconds or 0, lambda: (late.set(), self._connection.interrupt()))
        if self._seconds is not None:
            timer.start()
        try:
            statements = self._connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise UserError(f"runs: {typed!r} is not a single condition or SELECT statement")
            cursor = self._connection.execute(statements[0])
            described = cursor.description or []
            rows = cursor.fetchall()
        except (duckdb.Error, RuntimeError) as error:
            if late.is_set():
                raise UserError(f"runs: {typed!r} took longer than {self._seconds:g} seconds") from None
            if "interrupted" in str(error).lower():  # Ctrl-C in a long query
                raise KeyboardInterrupt from None
            if not isinstance(error, duckdb.Error):
                raise
            raise UserError(explain(error, typed, self._tables, self._values())) from None
        finally:
            timer.cancel()
        is_json = [str(column[1]) == "JSON" for column in described]
        if any(is_json):
            rows = [tuple(json.loads(v) if j and v else v for j, v in zip(is_json, row, strict=True)) for row in rows]
        return Result([str(column[0]) for column in described], rows)

    def _column(self, name: str) -> str:
        if name not in self.columns:
            raise UserError(explain(name, name, self._tables, set()))
        return name

    def _values(self) -> set[str]:
        """Every text in `runs`: someone who forgets the quotes means one of these."""
        texts = [column.name for column in RUNS if column.type == "VARCHAR"]
        rows = self._connection.execute(f"SELECT {', '.join(texts)} FROM runs").fetchall()
        return {value for row in rows for value in row if value is not None}

    def _fill(self, name: str, types: dict[str, SqlType], rows: Iterable[Row]) -> None:
        """Make a table; keys that are no columns are left out. Rows travel as JSON, the fastest way without pandas."""
        named = ", ".join(f'"{column}" {kind}' for column, kind in types.items())
        self._connection.execute(f"CREATE TABLE {name} ({named})")
        self._tables[name] = list(types)
        insert = f"INSERT INTO {name} SELECT r.* FROM (SELECT unnest(from_json(?::JSON, '{json.dumps([types])}')) AS r)"
        remaining = iter(rows)
        while part := list(islice(remaining, AT_ONCE)):
            self._insert(name, insert, part)

    def _insert(self, name: str, insert: str, rows: list[Row]) -> None:
        """Insert rows; one that the database cannot take, such as half a character, is skipped."""
        try:
            self._connection.execute(insert, [_as_json(rows)])
        except duckdb.Error:
            if len(rows) == 1:
                self._loaded.skipped.append(Skipped(f"{rows[0]['id']}", f"not a row of the table {name}", 1))
                return
            middle = len(rows) // 2
            self._insert(name, insert, rows[:middle])
            self._insert(name, insert, rows[middle:])


def _as_json(rows: list[Row]) -> str:
    try:
        return json.dumps(rows, allow_nan=False)
    except ValueError:  # NaN and infinity, which JSON lacks, travel as texts
        return json.dumps(json.loads(json.dumps(rows), parse_constant=str))


def _types(rows: Iterable[Row], first: Sequence[str]) -> dict[str, SqlType]:
    """The columns of lines that other versions may have written too: each key with the narrowest type that fits."""
    kinds: dict[str, set[SqlType]] = {name: set() for name in first}
    for row in rows:
        for name, value in row.items():
            if value is not None and re.fullmatch(r"[a-z][a-z0-9_]*", name):
                kinds.setdefault(name, set()).add(_type(value))
    return {name: _common(found) for name, found in kinds.items()}


def _type(value: Any) -> SqlType:
    if is_whole(value):
        return "BIGINT"
    if is_number(value):
        return "DOUBLE"
    if isinstance(value, dict) and all(map(is_number, value.values())):
        return "MAP(VARCHAR, DOUBLE)"
    return "VARCHAR" if isinstance(value, str) else "JSON"


def _common(kinds: set[SqlType]) -> SqlType:
    if len(kinds) == 1:
        return next(iter(kinds))
    return "DOUBLE" if kinds <= {"BIGINT", "DOUBLE"} else "JSON"


def explain(
    error: duckdb.Error | str, typed: str, tables: Mapping[str, Collection[str]], values: Collection[str]
) -> str:
    """One sentence on an error (or on the name of a column that does not exist) in what the user typed.

    `tables` are the columns by table, `values` the texts that stand in them.
    """
    message = str(error)
    if isinstance(error, str):
        return _missing_column(error, {"runs": tables["runs"]}, values)
    named = {table: columns for table, columns in tables.items() if re.search(rf"\b{table}\b", typed)}
    if match := NO_COLUMN.search(message):
        return _missing_column(match[1] or match[2], named or {"runs": tables["runs"]}, values)
    if match := NO_TABLE.search(message):
        name = match[1] or match[2]
        return f"runs: no table {name!r}; {suggestion(name, tables)}"
    reason = message.split("\n")[0].partition("Error: ")[2].rstrip("!") or message.split("\n")[0]
    if isinstance(error, duckdb.PermissionException):
        return "runs: only the tables runs, evaluation and metrics can be read, no files"
    if match := NEAR.search(message):
        near = get_close_matches(match[1], tables["runs"], n=1)
        reason += f" (did you mean {near[0]}?)" if near and match[1] not in tables["runs"] else ""
    return f"runs: {typed.strip()!r}: {reason}"


def _missing_column(name: str, tables: Mapping[str, Collection[str]], values: Collection[str]) -> str:
    columns = list(dict.fromkeys(column for table in tables.values() for column in table))
    scores = [column for column in columns if SCORE.fullmatch(column)]
    if name in values:
        return f"runs: no column {name!r}; write texts in single quotes: '{name}'"
    if SCORE.fullmatch(name) and "runs" in tables:
        tested = lengths_text(int(column.removeprefix("exact_match_")) for column in scores)
        lengths = f"tested lengths are {tested}" if tested else "none has been tested at all yet"
        return f"runs: no column {name!r}: no run was tested at {name.removeprefix('exact_match_')} digits; {lengths}"
    few = [column for column in columns if column not in scores] + ["exact_match_N"] * bool(scores)
    return f"runs: no column {name!r}; {suggestion(name, columns if get_close_matches(name, columns) else few)}"
