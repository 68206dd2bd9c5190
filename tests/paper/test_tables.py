"""Result tables: what is written is read back, in a fixed order and form."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from lengthlab.errors import UserError
from lengthlab.paper.tables import COLUMNS, TEXT, Member, Results, read_table, write_parquet, write_tables

RUN, OTHER = "00a1b2c3d4", "1234567890"  # an id may look like a number


def tables() -> dict[str, list[dict[str, Any]]]:
    return {
        "members": [
            {"experiment": "encodings", "setting": "NoPE, no hints", "seed": 2, "run": RUN},
            {"experiment": "encodings", "setting": "FIRE", "seed": 1, "run": OTHER},
        ],
        "trials": [
            {"run": OTHER, "state": "finished", "encoding": "fire", "rate": 3e-4, "parameters": 25_000_000},
            {"run": RUN, "state": "finished", "encoding": "none", "tokens": 123_456_789_012},
        ],
        "exact_match": [
            {"run": RUN, "weights": "last", "chain": 0, "digits": digits, "exact_match": digits / 30, "examples": 9}
            for digits in (10, 2)
        ]
        + [{"run": RUN, "weights": "best", "chain": 0, "digits": 2, "exact_match": 1.0}]
        + [{"run": RUN, "weights": "last", "chain": 5, "digits": 2, "exact_match": 0.5}],
        "training": [{"run": RUN, "step": step, "loss": 1 / step, "accuracy": 0.5} for step in (100, 20)],
        "evolution": [{"run": RUN, "step": 20, "digits": digits, "exact_match": 0.0} for digits in (10, 4)],
        "errors": [
            {"run": RUN, "digits": 10, "examples": 50, "wrong": 9, "measure": "wrong digits", "key": key, "value": 1}
            for key in ("10", "2")
        ],
    }


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    write_tables(tmp_path, tables())
    results = Results(tmp_path)
    assert results.experiments() == ["encodings"]
    assert results.members("encodings") == [Member("NoPE, no hints", 2, RUN), Member("FIRE", 1, OTHER)]
    assert results.settings("encodings") == ["NoPE, no hints", "FIRE"]
    assert results.trial(OTHER)["rate"] == 3e-4 and results.trial(RUN)["tokens"] == 123_456_789_012
    assert results.trial(OTHER)["dropout"] is None
    rows = results.exact_match(RUN)
    assert [(row["digits"], row["exact_match"]) for row in rows] == [(2, 0.0666667), (10, 0.333333)]
    assert [row["exact_match"] for row in results.exact_match(RUN, weights="best")] == [1]
    assert [row["exact_match"] for row in results.exact_match(RUN, chain=5)] == [0.5]
    assert [row["step"] for row in results.training(RUN)] == [20, 100]
    assert [row["digits"] for row in results.evolution(RUN)] == [4, 10]
    assert [row["key"] for row in results.errors(RUN)] == ["2", "10"]
    assert results.exact_match(OTHER) == [] and results.members("seeds") == []


def test_the_same_rows_give_the_same_bytes_in_any_order(tmp_path: Path) -> None:
    write_tables(tmp_path / "a", tables())
    backwards = {name: rows if name == "members" else rows[::-1] for name, rows in tables().items()}
    write_tables(tmp_path / "b", backwards)
    for table in COLUMNS:
        assert (tmp_path / "a" / f"{table}.csv").read_bytes() == (tmp_path / "b" / f"{table}.csv").read_bytes()
    again = {table: read_table(tmp_path / "a", table) for table in COLUMNS}
    write_tables(tmp_path / "c", again)
    for table in COLUMNS:
        assert (tmp_path / "a" / f"{table}.csv").read_bytes() == (tmp_path / "c" / f"{table}.csv").read_bytes()


def test_a_folder_without_tables_is_empty(tmp_path: Path) -> None:
    assert Results(tmp_path / "none").experiments() == []


def test_mistakes_in_tables_are_named(tmp_path: Path) -> None:
    (tmp_path / "members.csv").write_text("experiment,setting,run\n")
    with pytest.raises(UserError, match=r"members\.csv: no column seed"):
        Results(tmp_path).experiments()
    (tmp_path / "training.csv").write_text("run,step,loss,accuracy\na,1,2,3\na,2,high,3\n")
    with pytest.raises(UserError, match=r"training\.csv, line 3: loss should be a number \(got 'high'\)"):
        Results(tmp_path).training("a")
    with pytest.raises(UserError, match="no run 99"):
        Results(tmp_path).trial("99")
    with pytest.raises(ValueError, match=r"training\.csv has no column lose"):
        write_tables(tmp_path, {"training": [{"run": "a", "step": 1, "lose": 1}]})


def test_parquet_has_the_same_rows_with_types(tmp_path: Path) -> None:
    write_tables(tmp_path, tables())
    write_parquet(tmp_path)
    for table, columns in COLUMNS.items():
        rows = duckdb.read_parquet(str(tmp_path / f"{table}.parquet"))
        assert [tuple(row.values()) for row in read_table(tmp_path, table)] == [
            tuple("" if value is None and column in TEXT else value for column, value in zip(columns, row, strict=True))
            for row in rows.fetchall()
        ]
        assert rows.columns == list(columns)
