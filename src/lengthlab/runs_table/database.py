"""The records in DuckDB, in memory: tables `runs`, `evaluation` and `metrics`, asked by a condition or by SQL.

What a user writes can read these tables and nothing else: file access is switched off, the configuration is locked, and
only a single SELECT statement is run.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import duckdb

from lengthlab.errors import UserError
from lengthlab.runs_table.columns import RUNS, SqlType, is_number, is_whole
from lengthlab.runs_table.mistakes import explain
from lengthlab.runs_table.read import Loaded, Skipped

QUERY = re.compile(r"\s*\(*\s*(select|with|from|describe|summarize)\b", re.IGNORECASE)
LOCKED = (
    "SET python_enable_replacements = false",  # or a query could read variables of this program
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
AT_ONCE = 10_000  # rows sent to the database in one piece


@dataclass(frozen=True)
class Result:
    """What a query found."""

    columns: list[str]
    rows: list[tuple[Any, ...]]

    def dicts(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def is_query(text: str) -> bool:
    """Whether a text is SQL of its own rather than a condition.

    >>> is_query("select id from runs"), is_query("encoding = 'fire'")
    (True, False)
    """
    return QUERY.match(text) is not None


class Database:
    """The tables of all runs, ready to be asked."""

    def __init__(self, loaded: Loaded, metrics: bool = True) -> None:
        """`metrics`: whether the lines of metrics.jsonl are wanted; there may be many."""
        self._loaded = loaded
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
        return self._tables()["runs"]

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
        try:
            statements = self._connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise UserError(f"runs: {typed!r} is not a single condition or SELECT statement")
            cursor = self._connection.execute(statements[0])
            described = cursor.description or []
            rows = cursor.fetchall()
        except duckdb.Error as error:
            raise UserError(explain(error, typed, self._tables(), self._values())) from None
        is_json = [str(column[1]) == "JSON" for column in described]
        if any(is_json):
            rows = [tuple(json.loads(v) if j and v else v for j, v in zip(is_json, row, strict=True)) for row in rows]
        return Result([str(column[0]) for column in described], rows)

    def _column(self, name: str) -> str:
        if name not in self.columns:
            raise UserError(explain(name, name, self._tables(), set()))
        return name

    def _tables(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        listed = "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal ORDER BY column_index"
        for table, column in self._connection.execute(listed).fetchall():
            found.setdefault(table, []).append(column)
        return found

    def _values(self) -> set[str]:
        """Every text that stands in `runs`: whoever forgets the quotes means one of these."""
        texts = [column.name for column in RUNS if column.type == "VARCHAR"]
        rows = self._connection.execute(f"SELECT {', '.join(texts)} FROM runs").fetchall()
        return {value for row in rows for value in row if value is not None}

    def _fill(self, name: str, types: dict[str, SqlType], rows: Iterable[dict[str, Any]]) -> None:
        """Make a table; keys that are no columns are left out. Rows travel as JSON, the fastest way without pandas."""
        named = ", ".join(f'"{column}" {kind}' for column, kind in types.items())
        self._connection.execute(f"CREATE TABLE {name} ({named})")
        insert = f"INSERT INTO {name} SELECT r.* FROM (SELECT unnest(from_json(?::JSON, '{json.dumps([types])}')) AS r)"
        remaining = iter(rows)
        while part := list(islice(remaining, AT_ONCE)):
            self._insert(name, insert, part)

    def _insert(self, name: str, insert: str, rows: list[dict[str, Any]]) -> None:
        """Insert rows; one that the database cannot take, such as half a character, is skipped."""
        try:
            self._connection.execute(insert, [_as_json(rows)])
        except duckdb.Error:
            if len(rows) == 1:
                self._loaded.skipped.append(Skipped(f"{rows[0]['id']}", f"no row of the table {name}", 1))
                return
            middle = len(rows) // 2
            self._insert(name, insert, rows[:middle])
            self._insert(name, insert, rows[middle:])


def _as_json(rows: list[dict[str, Any]]) -> str:
    try:
        return json.dumps(rows, allow_nan=False)
    except ValueError:  # numbers that JSON lacks become texts, see CONSTANTS
        return json.dumps(json.loads(json.dumps(rows), parse_constant=str))


def _types(rows: Iterable[dict[str, Any]], first: Sequence[str]) -> dict[str, SqlType]:
    """The columns of lines that other versions may have written too: each key with the narrowest type that fits."""
    kinds: dict[str, set[SqlType]] = {name: set() for name in first}
    for row in rows:
        for name, value in row.items():
            if value is not None and re.fullmatch(r"[a-z]\w*", name, re.ASCII):
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
