"""Figures are drawn from tables, alike each time."""

from pathlib import Path

from lengthlab.figures.curves import Curve, exact_match_by_length
from lengthlab.figures.style import only
from lengthlab.statistics import wilson


def rows(*scores: int) -> list[dict[str, float]]:
    return [
        {
            "digits": digits,
            "examples": 100,
            "exact_match": score / 100,
            "low": wilson(score, 100)[0],
            "high": wilson(score, 100)[1],
        }
        for digits, score in enumerate(scores, start=1)
    ]


def test_the_same_tables_give_the_same_files(tmp_path: Path) -> None:
    curves = [Curve("seed 1", rows(100, 98, 40), 2), Curve("seed 2", rows(100, 100, 0), 2)]
    first = [file.read_bytes() for file in exact_match_by_length(curves, tmp_path / "a", "title")]
    again = [file.read_bytes() for file in exact_match_by_length(curves, tmp_path / "b", "title")]
    assert first == again


def test_labels_title_and_training_range_are_in_the_picture(tmp_path: Path) -> None:
    _, svg, _ = exact_match_by_length([Curve("seed 1", rows(100, 50), 1)], tmp_path / "a", "my title")
    text = svg.read_text()
    for words in ("my title", "seed 1", "trained on 1-1 digits", "exact match", "digits of each operand"):
        assert words in text


def test_many_curves_are_drawn(tmp_path: Path) -> None:
    curves = [Curve(f"seed {seed}", rows(100, 90, 80), 2) for seed in range(20)]
    with only("svg"):
        (file,) = exact_match_by_length(curves, tmp_path / "many")
    assert "at least 90% right up to 2 digits" in file.read_text()


def test_the_title_says_how_far_each_goes_and_a_line_why_it_ends(tmp_path: Path) -> None:
    curves = [
        Curve("short", rows(100, 95, 40), 1, ends="hints end here"),
        Curve("long", rows(100, 100, 100, 100, 92), 1),
    ]
    with only("svg"):
        (file,) = exact_match_by_length(curves, tmp_path / "two")
    said = file.read_text()
    assert "Trained on 1-1 digits, at least 90% right up to 5 digits (long), 2 (short)" in said
    assert "3 digits:" in said and "hints end here" in said
