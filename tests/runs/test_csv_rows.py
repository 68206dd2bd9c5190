"""Rows of CSV files: what is read is what was written, and a bad cell is named with its place."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lengthlab.errors import UserError
from lengthlab.runs.csv_rows import read_csv, write_csv

COLUMNS, TEXT = ("name", "count", "share"), {"name"}
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=8),
            "count": st.none() | st.integers(-(10**12), 10**12),
            "share": st.none() | st.integers(1, 99_999).map(lambda parts: parts / 100_000),
        }
    ),
    max_size=5,
)


@given(ROWS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read_back_and_written_alike(tmp_path: Path, rows: list[dict]) -> None:
    file, again = tmp_path / "rows.csv", tmp_path / "again.csv"
    write_csv(file, COLUMNS, rows)
    assert read_csv(file, COLUMNS, TEXT) == rows
    write_csv(again, COLUMNS, read_csv(file, COLUMNS, TEXT))
    assert again.read_bytes() == file.read_bytes()


def test_absent_files_and_columns(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    assert read_csv(file, COLUMNS, TEXT) == []
    write_csv(file, COLUMNS, [{"name": "a", "share": 0.123456789}])
    assert file.read_text() == "name,count,share\na,,0.123457\n"
    with pytest.raises(ValueError, match=r"rows\.csv has no column other"):
        write_csv(file, COLUMNS, [{"name": "a", "other": 1}])
    with pytest.raises(UserError, match=r"rows\.csv: no column seeds"):
        read_csv(file, (*COLUMNS, "seeds"), TEXT)


@pytest.mark.parametrize(
    ("line", "message"), [("a,x,1", "count should be a number \\(got 'x'\\)"), ("a", "no value for")]
)
def test_a_bad_cell_is_named_with_its_line(line: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(f"name,count,share\nb,1,2\n{line}\n")
    with pytest.raises(UserError, match=f"line 3: {message}"):
        read_csv(file, COLUMNS, TEXT)
