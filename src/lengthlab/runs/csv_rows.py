"""Rows of a CSV file: the same rows give the same bytes, and what is read is what was written.

Numbers have six significant digits, an empty cell is None, lines end with a line feed.
"""

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from lengthlab.errors import UserError
from lengthlab.runs.columns import Row
from lengthlab.runs.files import write_atomically


def read_csv(path: Path, columns: Sequence[str], text: Collection[str]) -> list[Row]:
    """The rows of a file, all columns but `text` as numbers; none if there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = [column for column in columns if column not in (reader.fieldnames or ())]
        if missing:
            raise UserError(f"{path}: no column {missing[0]}")
        try:
            return [{column: _parse(column, row[column], text) for column in columns} for row in reader]
        except ValueError as error:
            raise UserError(f"{path}, line {reader.line_num}: {error}") from None


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Write rows in the order given; columns that a row does not have are empty."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        if unknown := row.keys() - set(columns):
            raise ValueError(f"{path.name} has no column {min(unknown)}")
        writer.writerow([_format(row.get(column)) for column in columns])
    write_atomically(path, written.getvalue())


def _format(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _parse(column: str, cell: str | None, text: Collection[str]) -> Any:
    if cell is None:
        raise ValueError(f"no value for {column}")
    if column in text:
        return cell
    try:
        return _number(cell)
    except ValueError:
        raise ValueError(f"{column} should be a number (got {cell!r})") from None


@lru_cache(2**16)  # a table has far fewer numbers than cells
def _number(cell: str) -> int | float | None:
    if cell == "":
        return None
    try:
        return int(cell)
    except ValueError:
        return float(cell)
