"""Sentences say what their numbers say, and no more."""

import pytest

from lengthlab.analysis.words import alignment_words, bounds, carry_words, counts_words, shifts_words


def measure(name: str, share: float, low: float, high: float, base: float | None = None, **more: float) -> dict:
    return {"name": name, "share": share, "low": low, "high": high, "base": base, "runs": 1, "deviation": None} | more


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.55, 0.7, "more likely"), (0.3, 0.45, "wrong less often"), (0.4, 0.6, "no clear difference")],
)
def test_carries_are_blamed_only_beyond_the_interval(low: float, high: float, verdict: str) -> None:
    rows = [measure("wrong", (low + high) / 2, low, high), measure("all", 0.4, 0, 1), measure("same", 0.5, 0.5, 0.5)]
    assert verdict in carry_words(rows, several=False)


def test_one_failing_run_of_several_proves_nothing() -> None:
    rows = [measure("wrong", 0.9, 0.9, 0.9), measure("all", 0.4, 0.4, 0.4), measure("same", 0.5, 0.5, 0.5)]
    assert "no clear difference" in carry_words(rows, several=True)


def test_the_interval_over_runs_is_students() -> None:
    """Three runs, standard deviation 0.1: 4.3027 * 0.1 / sqrt(3) on either side (any table of t, two degrees)."""
    low, high = bounds(measure("x", 0.5, 0.4, 0.6, deviation=0.1, runs=3), several=True)
    assert (low, high) == pytest.approx((0.5 - 0.24841, 0.5 + 0.24841), abs=1e-4)


def test_only_places_above_luck_are_named() -> None:
    rows = [measure("-1", 0.3, 0.25, 0.35, 0.2), measure("0", 0.5, 0.4, 0.6, 0.1), measure("+1", 0.2, 0.1, 0.3, 0.2)]
    said = shifts_words(rows, [], several=False, order="standard")
    assert said.endswith(": -1, its own with a wrong carry.") and "to the left" in said
    assert "None clearly explains more" in shifts_words(rows[2:], [], several=False, order="reversed")


def test_the_fit_is_judged_by_its_misfit() -> None:
    row = measure("1", 0.7, 0, 1)
    for misfit, word in ((0.02, "fits well"), (0.2, "fits roughly"), (0.5, "fits badly")):
        assert word in counts_words([row], {"mean": 1.4, "ratio": 0.3, "misfit": misfit})
    assert "exactly one" in counts_words([row], {"mean": 1.0, "ratio": 0.0, "misfit": 0.0})


def test_what_is_lost_is_said_to_go_where_it_goes() -> None:
    def row(digits: int, score: float, near: float, far: float) -> dict:
        rest = {"farther": far, "elsewhere": 1 - score - near - far, "wrong_digits": 3, "exact_match": 0.5}
        parts = {"score_of_right": 0.8, "score_of_wrong": 0.4, "profile": [0, 0, near, score, 0, 0, 0]}
        return {"digits": digits, "score": score} | parts | rest

    said = alignment_words([row(5, 0.9, 0.1, 0.0), row(9, 0.5, 0.3, 0.1)], trained=5)
    assert "90% on training lengths and 50% at 9 digits" in said and "either side (30%)" in said
    assert "80% where the digit comes out right and 40% where it comes out wrong (3 digits)" in said
    assert "farther off" in alignment_words([row(5, 0.9, 0.1, 0.0), row(9, 0.5, 0.1, 0.3)], trained=5)
    assert "at every length here" in alignment_words([row(5, 0.9, 0.1, 0.0), row(9, 0.9, 0.1, 0.0)], trained=5)
