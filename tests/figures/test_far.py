"""Far beyond the training length: every seed is drawn, in the panel of its test."""

from pathlib import Path
from typing import Any

from lengthlab.figures.data import Seed, Setting
from lengthlab.figures.far import far_beyond

UNIFORM = [{"digits": digits, "exact_match": 0.9} for digits in (10, 100, 1000)]
SPARSE = "zeros but for one digit"


def on(kind: str, digits: int) -> dict[str, Any]:
    return {"digits": digits, "measure": "sums", "key": kind, "value": 0.9}


def test_tests_settings_and_lengths_are_in_the_picture(tmp_path: Path) -> None:
    sparse = [on(SPARSE, digits) for digits in (10, 100, 1000)]
    mine = Setting("mine", 10, [Seed(1, UNIFORM, errors=sparse), Seed(2, UNIFORM, errors=sparse)], aids=["hints"])
    png, svg, pdf = far_beyond([mine], tmp_path / "far", "my title")
    text = svg.read_text()
    for words in ("my title", "mine (n = 2 seeds)", "uniform sums", SPARSE, "1,000", "trained on 1-10 digits", "hints"):
        assert words in text
    assert "a carry through all places" not in text  # not tested
    again = far_beyond([mine], tmp_path / "again", "my title")
    assert [file.read_bytes() for file in (png, svg, pdf)] == [file.read_bytes() for file in again]


def test_one_length_is_enough(tmp_path: Path) -> None:
    one = Setting("one", 10, [Seed(1, UNIFORM[:1])])
    assert all(file.exists() for file in far_beyond([one], tmp_path / "one"))
