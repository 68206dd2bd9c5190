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
        reader = csv.reader(file)
        names = {name: place for place, name in enumerate(next(reader, ()))}
        if missing := [column for column in columns if column not in names]:
            raise UserError(f"{path}: no column {missing[0]}")
        places = [(column, names[column], column in text) for column in columns]
        rows = []
        for row in filter(None, reader):
            try:
                cells = {column: row[place] if word else _number(row[place]) for column, place, word in places}
            except (IndexError, ValueError):
                raise UserError(f"{path}, line {reader.line_num}: {_mistake(row, places)}") from None
            rows.append(cells)
        return rows


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


def _mistake(row: Sequence[str], places: Iterable[tuple[str, int, bool]]) -> str:
    """What is wrong with the first cell that cannot be read."""
    for column, place, word in places:
        if place >= len(row):
            return f"no value for {column}"
        try:
            if not word:
                _number(row[place])
        except ValueError:
            return f"{column} should be a number (got {row[place]!r})"
    raise AssertionError("every cell can be read")


@lru_cache(2**16)  # a table has far fewer numbers than cells
def _number(cell: str) -> int | float | None:
    if cell == "":
        return None
    try:
        return int(cell)
    except ValueError:
        return float(cell)
