"""The lengths that are chosen if nobody names any."""

import pytest

from lengthlab.statistics.lengths import choose_lengths, evenly, lengths_beyond, most_spread_length


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


def test_evenly_spread_lengths_are_few_and_hold_what_matters() -> None:
    lengths = evenly(range(1, 101), 12, [10, 37])
    assert {1, 10, 37, 100} <= set(lengths) and len(lengths) == 12
    assert {10, 11, 12} < set(near := evenly(range(1, 101), 12, [10, 11, 12])) and len(near) == 12
    assert evenly([1, 2, 3], 12, [2]) == [1, 2, 3]


def scores(*runs: tuple[float, ...]) -> dict[int, list[float]]:
    return {length: list(found) for length, found in enumerate(zip(*runs, strict=True), start=1)}


def test_lengths_beyond_training_are_fixed_unless_nobody_reaches_them() -> None:
    good, bad = (1.0, 1.0, 1.0, 1.0, 0.0, 0.0), (1.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    assert lengths_beyond(scores(good, bad), 2) == [3, 4]
    assert lengths_beyond(scores((1.0, 1.0, 1.0, 0.0, 0.0)), 2) == [3]
    assert lengths_beyond(scores(bad), 2) == [3]
    assert most_spread_length(scores((1.0, 0.0, 0.5, 1.0), (1.0, 1.0, 0.6, 0.0)), 2) == 4
