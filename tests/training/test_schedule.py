"""What changes from step to step: the learning rate, the longest length, random sharpness and loops."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from lengthlab.config.schema import Config
from lengthlab.config.training import ScheduleOptions, TrainingOptions
from lengthlab.training.schedule import longest_digits, loops, rate_factor, sharpness
from lengthlab.training.step import Engine


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


def test_schedules_other_than_the_paper_s() -> None:
    constant = [rate_factor(step, 100, ScheduleOptions(kind="constant", warmup=10)) for step in range(100)]
    assert constant[:10] == [(step + 1) / 10 for step in range(10)] and set(constant[10:]) == {1.0}
    options = ScheduleOptions(kind="stable-decay", warmup=10, decay=0.2, final=0.5)
    stable = [rate_factor(step, 100, options) for step in range(100)]
    assert set(stable[10:80]) == {1.0} and stable[-1] == 0.5
    assert stable[89] == pytest.approx(0.75)
    assert stable[79:] == sorted(stable[79:], reverse=True)


def sharpness_by_step(most: float, growth: float, steps: int = 4000, seed: int = 1) -> list[float]:
    training = TrainingOptions.model_validate({"steps": steps, "sharpness": {"most": most, "growth": growth}})
    return [sharpness(step, training, seed) for step in range(steps)]


def test_sharpness_is_log_uniform_from_one_to_the_most() -> None:
    shares = np.log(sharpness_by_step(12, growth=0)) / math.log(12)
    assert shares.min() >= 0 and shares.max() <= 1
    assert abs(np.histogram(shares, 10, (0, 1))[0] - 400).max() < 6 * math.sqrt(400)


def test_the_range_of_sharpness_grows_over_its_share_of_the_steps() -> None:
    factors = np.array(sharpness_by_step(8, growth=0.5))
    limits = 8 ** np.minimum(1.0, np.arange(4000) / 2000)
    assert (factors <= limits + 1e-12).all() and factors[0] == 1
    assert factors[2000:].max() > 7.8 and factors[:400].max() > 1.3


def test_sharpness_depends_on_the_sampling_seed_and_the_step_alone() -> None:
    assert sharpness_by_step(12, 0.3, 50) == sharpness_by_step(12, 0.3, 50)
    assert sharpness_by_step(12, 0, 50, seed=2) != sharpness_by_step(12, 0, 50, seed=1)
    assert set(sharpness_by_step(1, 0.3, 50)) == {1.0}


def test_sharpness_multiplies_the_logits_in_training_and_nowhere_else(smoke: Callable[..., Config]) -> None:
    """A model at sharpness 3 computes in training what one with logit_factor 3 does, and at test what it always did."""
    plain, fixed = Engine(smoke()), Engine(smoke("model.logit_factor=3"))
    batch = plain.pipeline.training_batches(0, 3)[0]
    before = plain.model.eval()(batch.inputs, batch.positions)
    plain.model.sharpness = 3.0
    assert torch.equal(plain.model(batch.inputs, batch.positions), before)
    fixed.model.load_state_dict(plain.model.state_dict())
    torch.testing.assert_close(
        plain.model.train()(batch.inputs, batch.positions), fixed.model.train()(batch.inputs, batch.positions)
    )


@pytest.mark.parametrize("step", [0, 7, 19])
def test_each_step_has_its_own_sharpness(step: int, smoke: Callable[..., Config]) -> None:
    config = smoke("training.sharpness={most: 5, growth: 0}")
    engine = Engine(config)
    engine.step(step)
    assert engine.model.sharpness == sharpness(step, config.training, config.seeds.sampling) != 1


def test_loops_are_uniform_up_to_those_of_the_model() -> None:
    training = TrainingOptions(least_loops=2)
    drawn = [loops(step, training, 5, seed=1) for step in range(4000)]
    assert drawn == [loops(step, training, 5, seed=1) for step in range(4000)]
    np.testing.assert_allclose(np.bincount(drawn, minlength=6)[2:] / 4000, 1 / 4, atol=0.03)
    assert {loops(step, TrainingOptions(), 5, seed=1) for step in range(20)} == {5}


def test_training_draws_how_often_the_layers_are_applied_and_a_test_does_not(smoke: Callable[..., Config]) -> None:
    config = smoke("model.loops=4", "training.least_loops=1")
    engine, passes = Engine(config), list[int]()
    engine.model.blocks[0].register_forward_hook(lambda *_: passes.append(1))
    counts = []
    for step in range(6):
        passes.clear()
        engine.step(step)
        counts.append(len(passes))
    assert counts == [loops(step, config.training, 4, config.seeds.sampling) for step in range(6)]
    assert len(set(counts)) > 1
    passes.clear()
    batch = engine.pipeline.training_batches(0, 3)[0]
    engine.model.eval()(batch.inputs, batch.positions)
    assert len(passes) == 4
