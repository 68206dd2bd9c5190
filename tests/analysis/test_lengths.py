"""The lengths that are chosen if nobody names any."""

import pytest

from lengthlab.analysis.lengths import choose_lengths, spread_lengths


def rows(**scores: float) -> list[dict[str, float]]:
    return [{"digits": int(name[1:]), "exact_match": score} for name, score in scores.items()]


@pytest.mark.parametrize(
    ("evaluations", "lengths", "reason"),
    [
        ([rows(_5=1.0, _6=1.0, _7=0.97, _8=0.6, _9=0.2)], [7, 8], "7 is the first tested length beyond"),
        ([rows(_5=1.0, _6=0.4, _9=0.0)], [6], "and the nearest to half wrong"),
        ([rows(_5=0.0, _6=0.0, _9=0.0)], [6], "the first tested length"),
        ([rows(_4=0.9, _5=0.8)], [5], "the tested length with the most wrong"),
        ([rows(_5=1.0, _6=0.998)], [6], "the tested length with the most wrong"),
        ([rows(_5=1.0, _9=1.0)], [9], "no length had a wrong answer"),
        ([[]], [6], "there is no evaluation"),
        ([rows(_6=1.0, _7=1.0, _8=0.9), rows(_6=1.0, _7=0.0)], [7], "on average"),
    ],
)
def test_lengths_where_a_run_begins_to_fail(
    evaluations: list[list[dict[str, float]]], lengths: list[int], reason: str
) -> None:
    chosen, why = choose_lengths(evaluations, trained=5)
    assert chosen == lengths and reason in why


def test_spread_lengths_are_few_and_hold_what_matters() -> None:
    lengths = spread_lengths(range(1, 101), trained=10, chosen=[37])
    assert {1, 10, 37, 100} <= set(lengths) and len(lengths) <= 14
    assert spread_lengths([1, 2, 3], trained=2, chosen=[3]) == [1, 2, 3]
