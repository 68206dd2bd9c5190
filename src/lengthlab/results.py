"""Result tables: small CSV files that figures, claims and the report read instead of run folders.

    members.csv       experiment, setting, seed -> run, in the order in which the experiment declares them
    trials.csv        run -> what was trained, how long it took, where
    exact_match.csv   run, weights, chain, digits -> exact match with its 95% interval
    training.csv      run, step -> loss and next-token accuracy
    evolution.csv     run, step, digits -> exact match during training
    errors.csv        run, digits, measure, key -> one number of the error analysis

The same rows give the same bytes: columns and order are fixed, numbers have six significant digits.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lengthlab.errors import UserError
from lengthlab.files import write_atomically

Row = dict[str, Any]

ALL_LENGTHS = 0  # as `digits` in errors.csv: all lengths beyond training together

COLUMNS: dict[str, tuple[str, ...]] = {
    "members": ("experiment", "setting", "seed", "run"),
    "trials": (
        *("run", "state", "encoding", "positions", "format", "hints", "order", "spaces", "mask"),
        *("layers", "width", "feedforward", "heads", "parameters", "dropout", "weight_decay", "rate"),
        *("trained_digits", "steps", "examples", "tokens", "seed_weights", "seed_data", "seed_sampling"),
        *("seconds", "final_loss", "machine"),
    ),
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
    *("experiment", "setting", "run", "state", "encoding", "positions", "format", "order", "mask", "machine"),
    *("weights", "measure", "key"),
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
        if run not in self._trials:
            raise UserError(f"{self.folder / 'trials.csv'}: no run {run}")
        return dict(self._trials[run])

    def exact_match(self, run: str, weights: str = "last", chain: int = 0) -> list[Row]:
        """A run's exact match for each tested length, shortest first."""
        rows = self._exact_match.get(run, ())
        return [dict(row) for row in rows if row["weights"] == weights and row["chain"] == chain]

    def training(self, run: str) -> list[Row]:
        """Loss and next-token accuracy at the logged steps."""
        return [dict(row) for row in self._training.get(run, ())]

    def evolution(self, run: str) -> list[Row]:
        """Exact match at a few lengths during training."""
        return [dict(row) for row in self._evolution.get(run, ())]

    def errors(self, run: str) -> list[Row]:
        """The numbers of the error analysis."""
        return [dict(row) for row in self._errors.get(run, ())]

    @cached_property
    def _members(self) -> dict[str, list[Member]]:
        found: dict[str, list[Member]] = {}
        for row in read_table(self.folder, "members"):
            found.setdefault(row["experiment"], []).append(Member(row["setting"], row["seed"], row["run"]))
        return found

    @cached_property
    def _trials(self) -> dict[str, Row]:
        return {row["run"]: row for row in read_table(self.folder, "trials")}

    @cached_property
    def _exact_match(self) -> dict[str, list[Row]]:
        return self._by_run("exact_match")

    @cached_property
    def _training(self) -> dict[str, list[Row]]:
        return self._by_run("training")

    @cached_property
    def _evolution(self) -> dict[str, list[Row]]:
        return self._by_run("evolution")

    @cached_property
    def _errors(self) -> dict[str, list[Row]]:
        return self._by_run("errors")

    def _by_run(self, table: str) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for row in sorted_rows(table, read_table(self.folder, table)):
            found.setdefault(row["run"], []).append(row)
        return found


def read_table(folder: Path, table: str) -> list[Row]:
    """The rows of a table, numbers as numbers and empty cells as None; no rows if there is no file."""
    path = folder / f"{table}.csv"
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = [column for column in COLUMNS[table] if column not in (reader.fieldnames or ())]
        if missing:
            raise UserError(f"{path}: no column {missing[0]}")
        try:
            return [{column: _parse(column, row[column]) for column in COLUMNS[table]} for row in reader]
        except ValueError as error:
            raise UserError(f"{path}, line {reader.line_num}: {error}") from None


def write_tables(folder: Path, tables: Mapping[str, Sequence[Row]]) -> None:
    """Write tables as CSV, sorted by their keys (members stay in the order given). Columns not named are empty."""
    folder.mkdir(parents=True, exist_ok=True)
    for table, rows in tables.items():
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS[table])
        for row in sorted_rows(table, rows):
            if unknown := row.keys() - set(COLUMNS[table]):
                raise ValueError(f"{table}.csv has no column {min(unknown)}")
            writer.writerow([_format(row.get(column)) for column in COLUMNS[table]])
        write_atomically(folder / f"{table}.csv", text.getvalue())


def sorted_rows(table: str, rows: Iterable[Row]) -> list[Row]:
    """Rows by their keys, runs together; members as they come."""
    if table not in KEYS:
        return list(rows)
    return sorted(rows, key=lambda row: tuple(_order(row[column]) for column in KEYS[table]))


def _order(value: Any) -> tuple[bool, Any]:
    """Numbers before text, and text that is a number among the numbers: keys such as 2 and 10."""
    text = str(value)
    return (False, int(text)) if text.isascii() and text.isdigit() and len(text) < 10 else (True, text)


def _format(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _parse(column: str, text: str | None) -> Any:
    if text is None:
        raise ValueError(f"no value for {column}")
    if column in TEXT:
        return text
    if text == "":
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{column} should be a number (got {text!r})") from None
