"""Intervals against published and exact values, and what must hold for all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp, ttest_ind

from lengthlab.statistics import deviation_interval, t_interval, wilson


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


def test_t_intervals_are_those_of_scipy() -> None:
    a, b = [0.8, 0.85, 0.9, 0.7], [0.1, 0.4, 0.2, 0.15, 0.3]
    alone = ttest_1samp(a, 0).confidence_interval()
    assert t_interval(a) == pytest.approx((alone.low, alone.high))
    welch = ttest_ind(a, b, equal_var=False).confidence_interval()
    assert t_interval(a, b) == pytest.approx((welch.low, welch.high))
    assert t_interval([0.5] * 3, [0.25] * 4) == (0.25, 0.25)


def test_intervals_of_five_seeds_cover_what_they_say() -> None:
    """Of one mean and of two: normal scores, even ones, and two settings of which one spreads three times as far."""
    rng = np.random.default_rng(0)
    draws = 1000
    for a, b in [
        (rng.normal(0.5, 0.1, (draws, 5)), rng.normal(0.5, 0.1, (draws, 5))),
        (rng.random((draws, 5)), rng.random((draws, 5))),
        (rng.normal(0.5, 0.1, (draws, 5)), rng.normal(0.5, 0.3, (draws, 5))),
    ]:
        of_one = [low <= 0.5 <= high for low, high in map(t_interval, a.tolist())]
        of_two = [low <= 0 <= high for low, high in map(t_interval, a.tolist(), b.tolist())]
        assert 0.92 < np.mean(of_one) < 0.975 and 0.92 < np.mean(of_two) < 0.975, (np.mean(of_one), np.mean(of_two))


def test_the_interval_of_a_deviation_covers_what_it_says() -> None:
    """Normal values with deviation 0.2, in one group of five and in three."""
    rng = np.random.default_rng(0)
    for groups in (1, 3):
        draws = rng.normal(0.5, 0.2, (2000, groups, 5))
        covered = [low <= 0.2 <= high for _, low, high in map(deviation_interval, draws.tolist())]
        assert 0.935 < np.mean(covered) < 0.965
    value, low, high = deviation_interval([[0.1, 0.3], [0.7, 0.9]])
    assert value == pytest.approx(0.02**0.5) and low < value < high
