"""Summaries over seeds say how many there were; the generalization factor is contiguous."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthlab.statistics import SeedSummary, generalization

FIVE = {"1": 1.0, "2": 0.95, "3": 0.41, "4": 0.9, "5": 0.99}


def test_a_summary_of_known_values() -> None:
    """By hand: sum 4.25, sorted 0.41 0.9 0.95 0.99 1; at least 90% 4, 95% 3, 99% 2."""
    summary = SeedSummary.of(FIVE)
    assert (summary.n, summary.mean, summary.median) == (5, pytest.approx(0.85), 0.95)
    assert (summary.best, summary.worst) == (1.0, 0.41)
    assert list(summary.reached.values()) == [4, 3, 2]
    flat = summary.as_dict()
    assert (flat["share_90"], flat["share_95"], flat["share_99"], flat["n"]) == (0.8, 0.6, 0.4, 5)
    assert flat["seeds"] == FIVE
    assert flat["low"] < flat["mean"] < flat["high"]


def test_the_sentence_gives_the_number_of_seeds_and_more_than_the_best() -> None:
    sentence = SeedSummary.of(FIVE).sentence
    assert sentence.startswith("5 seeds: mean 85% (95% interval ")
    assert "median 95%, best 100%, worst 41%; reached 90% by 4 of 5, 95% by 3 of 5, 99% by 2 of 5." in sentence
    assert SeedSummary.of({"7": 0.25}).sentence == "1 seed: 25%; one seed says nothing about the others."
    with pytest.raises(ValueError, match="at least one seed"):
        SeedSummary.of({})


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_the_seeds_changes_nothing(counts: list[int], random) -> None:
    seeds = {str(seed): count / 20 for seed, count in enumerate(counts)}
    shuffled = dict(random.sample(list(seeds.items()), len(seeds)))
    assert SeedSummary.of(seeds) == SeedSummary.of(shuffled)


@pytest.mark.parametrize(
    ("scores", "longest", "is_limit"),
    [
        ({5: 1.0, 10: 0.99, 15: 0.9, 20: 0.89}, 15, False),
        ({5: 1.0, 10: 0.99, 15: 0.5, 20: 0.95}, 10, False),  # what comes after a break does not count
        ({20: 0.0, 15: 0.0, 10: 0.3, 5: 1.0}, 5, False),  # fails where it was trained
        ({5: 0.89, 10: 1.0}, 0, False),
        ({5: 1.0, 10: 1.0}, 10, True),
    ],
)
def test_the_generalization_factor_goes_up_to_the_first_failure(
    scores: dict[int, float], longest: int, is_limit: bool
) -> None:
    found = generalization(scores, trained=10)
    assert (found.longest, found.factor, found.is_limit) == (longest, longest / 10, is_limit)


def test_the_threshold_can_be_chosen() -> None:
    scores = {5: 1.0, 10: 0.97, 15: 0.6}
    assert [generalization(scores, 10, threshold).longest for threshold in (0.99, 0.95, 0.5)] == [5, 10, 15]
    for mistaken in ({}, 10, 0.9), (scores, 0, 0.9), (scores, 10, 0.0), (scores, 10, 90):
        with pytest.raises(ValueError, match="generalization needs"):
            generalization(*mistaken)
