"""What people expect to be able to set."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from lengthlab.batches import Pipeline
from lengthlab.checks import check
from lengthlab.config import Config, ScheduleOptions
from lengthlab.errors import UserError
from lengthlab.evaluation.load import load_model
from lengthlab.optimizers.lion import Lion
from lengthlab.runs import Run
from lengthlab.training.loop import Trainer, Watcher
from lengthlab.training.schedule import rate_factor
from lengthlab.training.step import Engine

Smoke = Callable[..., Config]


def train(config: Config) -> Run:
    check(config)
    run = Run.of(config)
    Trainer(config, run, Watcher()).train()
    return run


def test_schedules_other_than_the_paper_s() -> None:
    constant = [rate_factor(step, 100, ScheduleOptions(kind="constant", warmup=10)) for step in range(100)]
    assert constant[:10] == [(step + 1) / 10 for step in range(10)] and set(constant[10:]) == {1.0}
    options = ScheduleOptions(kind="stable-decay", warmup=10, decay=0.2, final=0.5)
    stable = [rate_factor(step, 100, options) for step in range(100)]
    assert set(stable[10:80]) == {1.0} and stable[-1] == 0.5
    assert stable[89] == pytest.approx(0.75)
    assert stable[79:] == sorted(stable[79:], reverse=True)


def test_the_average_of_the_weights_follows_its_formula(smoke: Smoke) -> None:
    config = smoke("training.ema=0.9", "training.steps=4", "evaluation.weights=[last, ema]")
    engine = Engine(config)
    expected = {name: p.detach().clone() for name, p in engine.model.named_parameters()}
    for step in range(4):
        engine.step(step)
        decay = min(0.9, (2 + step) / (11 + step))
        for name, parameter in engine.model.named_parameters():
            expected[name] = decay * expected[name] + (1 - decay) * parameter.detach()
    run = train(config)
    stored = load_file(run.weights_file("ema"))
    for name, tensor in stored.items():
        torch.testing.assert_close(tensor, expected[name])
    assert run.evaluation_of("ema") and run.evaluation_of("last") == run.evaluation
    averaged, _ = load_model(run, "ema")
    assert torch.equal(dict(averaged.named_parameters())["embedding.weight"], stored["embedding.weight"])


def test_the_average_is_resumed_exactly_and_evaluated_on_the_way(smoke: Smoke, tmp_path: Path) -> None:
    config = smoke("training.ema=0.99", "training.checkpoint_every=5")
    undisturbed = Run(tmp_path / "undisturbed")
    Trainer(config, undisturbed, Watcher()).train()

    def interrupt(line: dict[str, int]) -> None:
        if line["step"] == 15:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Trainer(config, Run.of(config), Watcher(metrics=interrupt)).train()
    run = train(config)
    assert run.weights_file("ema").read_bytes() == undisturbed.weights_file("ema").read_bytes()
    assert any("exact_match_ema" in line for line in run.metrics)


def test_the_best_weights_are_chosen_on_lengths_of_training_only(smoke: Smoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores are planted: the best training length comes at step 10, the best longer length at step 15."""
    from lengthlab.evaluation.exact_match import Row
    from lengthlab.training import loop

    planted = iter([(0.1, 0.0), (0.9, 0.2), (0.5, 1.0)])

    def scores(*arguments: object, **more: object) -> list[Row]:
        inside, beyond = next(planted, (0.0, 0.0))
        return [Row(2, 8, inside, 0, 1), Row(4, 8, beyond, 0, 1)]

    monkeypatch.setattr(loop, "exact_match", scores)
    config = smoke("training.evaluate_every=5", "training.log_every=5")
    trainer = Trainer(config, Run.of(config), Watcher())
    trainer.train()
    assert trainer.progress.best == 0.9
    engine = Engine(config)
    for step in range(10):
        engine.step(step)
    best = load_file(trainer.run.weights_file("best"))
    assert torch.equal(best["embedding.weight"], engine.model.embedding.weight)


def test_accumulated_batches_make_one_step_of_all_their_tokens(smoke: Smoke) -> None:
    pipeline = Pipeline(smoke("training.accumulate=3", "training.growth=0"))
    batches = pipeline.training_batches(0, 3)
    assert [len(batch.tokens) for batch in batches] == [8, 8, 8]
    metrics = Engine(smoke("training.accumulate=3", "training.growth=0")).step(0)
    assert metrics["examples"] == 24 and metrics["tokens"] == sum(batch.tokens.numel() for batch in batches)


@pytest.mark.parametrize("weighting", [-1.0, 0.0, 2.0])
def test_lengths_are_weighted_by_a_power_of_the_length(weighting: float, smoke: Smoke) -> None:
    pipeline = Pipeline(smoke(f"training.weighting={weighting}", "training.batch=1", "training.accumulate=4000"))
    lengths = np.array([batch.tokens.shape[1] for batch in pipeline.training_batches(0, 3)])
    shares = np.array([(lengths == pipeline.columns(digits)).mean() for digits in (1, 2, 3)])
    weights = np.array([1.0, 2.0, 3.0]) ** weighting
    np.testing.assert_allclose(shares, weights / weights.sum(), atol=0.04)


def test_limits_end_training_after_the_step_that_reaches_them(smoke: Smoke) -> None:
    by_examples = train(smoke("training.max_examples=60"))
    assert by_examples.status["step"] == 8 and "training.max_examples reached" in by_examples.status["message"]
    by_tokens = train(smoke("training.max_tokens=400"))
    tokens = [line["tokens"] for line in by_tokens.metrics if "loss" in line][-1]
    assert tokens >= 400 > tokens - 8 * 28
    assert by_tokens.status["state"] == "finished" and by_tokens.evaluation


def test_training_stops_early_once_its_lengths_are_learned(smoke: Smoke) -> None:
    learns = smoke(
        "training.digits=1", "format.hints=0", "positions=sequential", "model.width=64", "training.batch=64",
        "training.steps=2000", "training.evaluate_every=50", "training.evaluate_digits=[1, 2]", "training.stop_at=0.5",
        "training.optimizer.rate=0.003", "evaluation.digits=1-2",
    )  # fmt: skip
    run = train(learns)
    assert run.status["state"] == "finished" and run.status["step"] < 2000
    assert "stopped after step" in run.status["message"]


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["evaluation.weights=[ema]"], "evaluation.weights: ema needs training.ema"),
        (["evaluation.weights=[best]", "training.evaluate_digits=[4]"], "evaluation.weights: best needs"),
        (["training.stop_at=0.9", "training.evaluate_every=0"], "training.stop_at: needs training.evaluate_digits"),
    ],
)
def test_choices_that_need_evaluations_are_refused_without(overrides: list[str], message: str, smoke: Smoke) -> None:
    with pytest.raises(UserError, match=message):
        check(smoke(*overrides))


def test_lion_follows_its_formula() -> None:
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(5, 4, generator=generator)
    parameter = nn.Parameter(start.clone())
    optimizer = Lion([parameter], lr=0.1, betas=(0.9, 0.99), weight_decay=0.2)
    theta, momentum = start.clone(), torch.zeros(5, 4)
    for _ in range(4):
        gradient = torch.randn(5, 4, generator=generator)
        parameter.grad = gradient.clone()
        optimizer.step()
        theta = theta - 0.1 * (torch.sign(0.9 * momentum + 0.1 * gradient) + 0.2 * theta)
        momentum = 0.99 * momentum + 0.01 * gradient
        torch.testing.assert_close(parameter.detach(), theta)
