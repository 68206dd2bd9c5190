"""Far beyond the training length: every seed is drawn, in the panel of its test."""

from pathlib import Path

from lengthlab.figures.far import far_beyond


def row(test: str, seed: int, digits: int, score: float) -> dict[str, object]:
    return {"recipe": "mine", "seed": seed, "test": test, "digits": digits, "exact_match": score}


def test_tests_recipes_and_lengths_are_in_the_picture(tmp_path: Path) -> None:
    rows = [row(test, seed, n, 0.9) for test in ("uniform", "sparse") for seed in (1, 2) for n in (10, 100, 1000)]
    png, svg, pdf = far_beyond(rows, 10, tmp_path / "far", "my title")
    text = svg.read_text()
    for words in ("my title", "mine", "uniform sums", "zeros but for one digit", "1,000", "trained on 1-10 digits"):
        assert words in text
    assert "a carry through all places" not in text  # not tested
    again = far_beyond(rows, 10, tmp_path / "again", "my title")
    assert [file.read_bytes() for file in (png, svg, pdf)] == [file.read_bytes() for file in again]


def test_one_test_or_none(tmp_path: Path) -> None:
    assert all(file.exists() for file in far_beyond([row("uniform", 1, 10, 1.0)], 10, tmp_path / "one"))
    assert "no finished runs yet" in far_beyond([], 10, tmp_path / "none")[1].read_text()
