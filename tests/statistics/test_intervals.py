"""Intervals against published and exact values, and what must hold for all of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp, ttest_ind

from lengthlab.statistics import bootstrap_interval, deviation_interval, t_interval, wilson

scores = st.lists(st.integers(0, 100).map(lambda count: count / 100), min_size=2, max_size=6)


def test_wilson_intervals_of_known_value() -> None:
    """Newcombe 1998, Statistics in Medicine 17, table I, method 3: 81/263, 15/148, 0/20, 1/29."""
    for correct, examples, low, high in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ]:
        assert wilson(correct, examples) == pytest.approx((low, high), abs=5e-5)
    assert wilson(20, 20)[1] == 1.0


@given(st.integers(1, 5000).flatmap(lambda examples: st.tuples(st.integers(0, examples), st.just(examples))))
def test_wilson_contains_the_estimate(counts: tuple[int, int]) -> None:
    low, high = wilson(*counts)
    assert 0 <= low <= counts[0] / counts[1] <= high <= 1
    assert low < high


def test_the_bootstrap_of_two_values_is_known() -> None:
    """Of 0 and 1 the resampled means are 0, 1/2, 1/2, 1 with equal chances: the middle half is all 1/2, the middle 95%
    goes from 0 to 1."""
    assert bootstrap_interval([0, 1]) == (0, 1)
    assert bootstrap_interval([0, 1], level=0.4) == (0.5, 0.5)
    assert bootstrap_interval([0.3, 0.3, 0.3]) == pytest.approx((0.3, 0.3))
    assert bootstrap_interval([0.7]) is None
    assert bootstrap_interval([0.7, 0.8], minus=[0.5]) is None


def test_the_bootstrap_of_many_values_is_that_of_the_normal_distribution() -> None:
    """200 values, 0 and 1 in equal number: the mean's standard error is 0.5 / sqrt(200), its interval 1.96 of them."""
    reach = 1.96 * 0.5 / 200**0.5
    assert bootstrap_interval([0, 1] * 100) == pytest.approx((0.5 - reach, 0.5 + reach), abs=0.006)
    both = 2**0.5 * reach
    assert bootstrap_interval([0, 1] * 100, minus=[0, 1] * 100) == pytest.approx((-both, both), abs=0.008)


@settings(max_examples=20, deadline=None)
@given(scores, st.randoms(use_true_random=False))
def test_the_bootstrap_depends_on_its_seed_and_not_on_the_order(values: list[float], random) -> None:
    shuffled = random.sample(values, len(values))
    interval = bootstrap_interval(values)
    assert interval is not None and interval == bootstrap_interval(shuffled)
    assert min(values) - 1e-12 <= interval[0] <= interval[1] <= max(values) + 1e-12


def test_another_seed_draws_other_samples() -> None:
    values = [0.11, 0.2, 0.35, 0.47, 0.59, 0.83, 0.97]
    assert bootstrap_interval(values, seed=1) != bootstrap_interval(values, seed=2)


def test_t_intervals_are_those_of_scipy() -> None:
    a, b = [0.8, 0.85, 0.9, 0.7], [0.1, 0.4, 0.2, 0.15, 0.3]
    alone = ttest_1samp(a, 0).confidence_interval()
    assert t_interval(a) == pytest.approx((alone.low, alone.high))
    welch = ttest_ind(a, b, equal_var=False).confidence_interval()
    assert t_interval(a, b) == pytest.approx((welch.low, welch.high))
    assert t_interval([0.5] * 3, [0.25] * 4) == (0.25, 0.25)


def test_the_interval_of_a_deviation_covers_what_it_says() -> None:
    """Normal values with deviation 0.2, in one group of five and in three."""
    rng = np.random.default_rng(0)
    for groups in (1, 3):
        draws = rng.normal(0.5, 0.2, (2000, groups, 5))
        covered = [low <= 0.2 <= high for _, low, high in map(deviation_interval, draws.tolist())]
        assert 0.935 < np.mean(covered) < 0.965
    value, low, high = deviation_interval([[0.1, 0.3], [0.7, 0.9]])
    assert value == pytest.approx(0.02**0.5) and low < value < high
