"""What is published here follows from its tables, and a change of either is named."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

PUBLISHED = Path(__file__).parents[2] / "results" / "mini"
FIRST = ",last,0,1,500,1,0.992376,"  # a score of exact_match.csv
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "mini"
    folder.mkdir()
    for file in (*PUBLISHED.glob("*.csv"), PUBLISHED / "report.html"):
        shutil.copy(file, folder)
    return folder


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize("folder", sorted(path.parent for path in PUBLISHED.parent.glob("*/members.csv")), ids=str)
def test_what_is_published_follows_from_its_tables(folder: Path, lengthlab: Command) -> None:
    status, out, err = lengthlab("verify", str(folder))
    assert status == 0 and "all follow from the tables" in out, out + err


@pytest.mark.parametrize(
    ("file", "old", "new", "named"),
    [
        ("exact_match.csv", FIRST, ",last,0,1,500,0.99,0.992376,", "1 digits: low is 0.992376"),
        ("exact_match.csv", FIRST, ",last,0,1,500,0.9999,0.992376,", "no whole number of 500 sums"),
        ("exact_match.csv", FIRST, ",last,0,1,500,1,,", "a number is missing"),
        ("members.csv", ",c0a5d18362", ",c0a5d18363", "run c0a5d18363 is not in trials.csv"),
        ("report.html", "</span> does not hold</span>", "</span> holds</span>", "'✗ holds "),  # a verdict
        (
            "errors.csv",
            "carry,wrong digits,0.481375",
            "carry,wrong digits,0.981375",
            "computed again",
        ),  # what one stands on
    ],
)
def test_every_difference_is_named(copy: Path, file: str, old: str, new: str, named: str, lengthlab: Command) -> None:
    change(copy / file, old, new)
    status, out, _ = lengthlab("verify", str(copy))
    assert status == 1 and named in out, out


def test_without_a_page_the_tables_are_checked(copy: Path, lengthlab: Command) -> None:
    (copy / "report.html").unlink()
    status, out, _ = lengthlab("verify", str(copy), "--json")
    assert status == 0 and '"scores": 1350' in out and '"verdicts": 0' in out
    assert lengthlab("verify", "nowhere")[0] == 2
