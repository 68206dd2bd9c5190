"""Result tables: small CSV files that figures, claims and the report read instead of run folders.

    members.csv       experiment, setting, seed -> run, in the order in which the experiment declares them
    trials.csv        run -> what was trained, how long it took, where
    exact_match.csv   run, weights, chain, digits -> exact match with its 95% interval
    training.csv      run, step -> loss and next-token accuracy
    evolution.csv     run, step, digits -> exact match during training
    errors.csv        run, digits, measure, key -> one number of the error analysis

The same rows give the same bytes: columns and order are fixed, numbers have six significant digits. Beside each of them
lies the same table as Parquet, for other people's tools; nothing here reads it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lengthlab.errors import UserError
from lengthlab.runs.columns import TRIALS, Row
from lengthlab.runs.csv_rows import read_csv, write_csv
from lengthlab.runs.files import write_atomically

COLUMNS: dict[str, tuple[str, ...]] = {
    "members": ("experiment", "setting", "seed", "run"),
    "trials": tuple(TRIALS),
    "exact_match": (
        *("run", "weights", "chain", "digits", "examples", "exact_match", "low", "high"),
        *("digit_accuracy", "token_accuracy", "length_accuracy"),
    ),
    "training": ("run", "step", "loss", "accuracy"),
    "evolution": ("run", "step", "digits", "exact_match"),
    "errors": ("run", "digits", "examples", "wrong", "measure", "key", "value"),
}
KEYS: dict[str, tuple[str, ...]] = {  # what a row is found by, and sorted by
    "trials": ("run",),
    "exact_match": ("run", "weights", "chain", "digits"),
    "training": ("run", "step"),
    "evolution": ("run", "step", "digits"),
    "errors": ("run", "digits", "measure", "key"),
}
TEXT = {  # all other columns are numbers; a run's id may look like one
    *(name for name, column in TRIALS.items() if column.type == "VARCHAR"),
    *("experiment", "setting", "weights", "measure", "key"),
}
_WHOLE = dict.fromkeys(("seed", "chain", "digits", "examples", "step", "wrong"), "BIGINT") | {
    name: "BIGINT" for name, column in TRIALS.items() if column.type == "BIGINT"
}


@dataclass(frozen=True)
class Member:
    """One run's part in an experiment."""

    setting: str
    seed: int
    run: str


class Results:
    """Reads the tables of one folder; a table that is not there has no rows."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._tables: dict[str, dict[str, list[Row]]] = {}

    def experiments(self) -> list[str]:
        """The experiments that have members here."""
        return sorted(self._members)

    def members(self, experiment: str) -> list[Member]:
        """The runs of an experiment in the order of its settings and seeds; none if it was not run."""
        return list(self._members.get(experiment, ()))

    def settings(self, experiment: str) -> list[str]:
        """The labels of an experiment's settings in declared order, each once."""
        return list(dict.fromkeys(member.setting for member in self.members(experiment)))

    def trial(self, run: str) -> Row:
        """What is known of a run: one row of trials.csv."""
        rows = self._rows("trials", run)
        if not rows:
            raise UserError(f"{self.folder / 'trials.csv'}: no run {run}")
        return rows[-1]

    def exact_match(self, run: str, weights: str = "last", chain: int = 0) -> list[Row]:
        """A run's exact match for each tested length, shortest first."""
        rows = self._rows("exact_match", run)
        return [row for row in rows if row["weights"] == weights and row["chain"] == chain]

    def training(self, run: str) -> list[Row]:
        """Loss and next-token accuracy at the logged steps."""
        return self._rows("training", run)

    def evolution(self, run: str) -> list[Row]:
        """Exact match at a few lengths during training."""
        return self._rows("evolution", run)

    def errors(self, run: str) -> list[Row]:
        """The numbers of the error analysis."""
        return self._rows("errors", run)

    @cached_property
    def _members(self) -> dict[str, list[Member]]:
        found: dict[str, list[Member]] = {}
        for row in read_table(self.folder, "members"):
            found.setdefault(row["experiment"], []).append(Member(row["setting"], row["seed"], row["run"]))
        return found

    def _rows(self, table: str, run: str) -> list[Row]:
        """A run's rows of a table, each a copy. A table is read once, when it is first needed."""
        if table not in self._tables:
            found: dict[str, list[Row]] = {}
            for row in sorted_rows(table, read_table(self.folder, table)):
                found.setdefault(row["run"], []).append(row)
            self._tables[table] = found
        return [dict(row) for row in self._tables[table].get(run, ())]


def read_table(folder: Path, table: str) -> list[Row]:
    """The rows of a table, numbers as numbers and empty cells as None; no rows if there is no file."""
    return read_csv(folder / f"{table}.csv", COLUMNS[table], TEXT)


def write_tables(folder: Path, tables: Mapping[str, Sequence[Row]]) -> None:
    """Write tables as CSV, sorted by their keys (members stay in the order given). Columns not named are empty."""
    folder.mkdir(parents=True, exist_ok=True)
    for table, rows in tables.items():
        write_csv(folder / f"{table}.csv", COLUMNS[table], sorted_rows(table, rows))


def write_parquet(folder: Path) -> None:
    """Write each CSV table of `folder` as Parquet too, columns with their types."""
    import duckdb

    with duckdb.connect() as database, TemporaryDirectory() as scratch:
        for table, columns in COLUMNS.items():
            types = {column: "VARCHAR" if column in TEXT else _WHOLE.get(column, "DOUBLE") for column in columns}
            rows = database.read_csv(str(folder / f"{table}.csv"), header=True, columns=types)
            rows.write_parquet(str(Path(scratch) / table), compression="zstd")
            write_atomically(folder / f"{table}.parquet", (Path(scratch) / table).read_bytes())


def sorted_rows(table: str, rows: Iterable[Row]) -> list[Row]:
    """Rows by their keys, runs together; members as they come."""
    if table not in KEYS:
        return list(rows)
    keys = KEYS[table]
    return sorted(rows, key=lambda row: [_order(row[column]) for column in keys])


@lru_cache(2**16, typed=True)  # a table has far fewer keys than rows
def _order(value: Any) -> tuple[bool, Any]:
    """Numbers before text, and text that is a number among the numbers: keys such as 2 and 10."""
    text = str(value)
    return (False, int(text)) if text.isascii() and text.isdigit() and len(text) < 10 else (True, text)
