"""The learning rate and the longest length, step by step."""

import pytest

from lengthlab.config import ScheduleOptions, TrainingOptions
from lengthlab.training.schedule import longest_digits, rate_factor


def test_the_paper_s_schedule() -> None:
    """500 steps of warm-up from 0, then cosine to a tenth of the peak at step 50,000."""
    schedule = ScheduleOptions(warmup=500, final=0.1)
    rates = [rate_factor(step, 50_000, schedule) for step in range(50_000)]
    assert rates[0] == pytest.approx(1 / 500)
    assert rates[499] == rates[500] == 1.0
    assert rates[25_249] == pytest.approx(0.55, abs=1e-3)  # halfway down
    assert rates[-1] == pytest.approx(0.1)
    assert rates[:500] == sorted(rates[:500])
    assert rates[500:] == sorted(rates[500:], reverse=True)


@pytest.mark.parametrize("warmup", [0, 1, 10])
def test_short_runs_have_a_schedule_too(warmup: int) -> None:
    for steps in (1, 2, 10):
        assert all(0 < rate_factor(step, steps, ScheduleOptions(warmup=warmup)) <= 1 for step in range(steps))


def test_the_longest_length_grows_evenly_from_two() -> None:
    training = TrainingOptions(digits=10, steps=900, growth=0.5)
    longest = [longest_digits(step, training) for step in range(900)]
    assert [longest.count(n) for n in range(2, 10)] == [50] * 8
    assert longest == sorted(longest) and set(longest[450:]) == {10}


def test_without_growth_all_lengths_come_at_once() -> None:
    assert longest_digits(0, TrainingOptions(digits=10, steps=900, growth=0.0)) == 10
    assert longest_digits(0, TrainingOptions(digits=1, steps=900, growth=1.0)) == 1
