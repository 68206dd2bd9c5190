"""Training: the loss falls, the same seeds give the same run, and trouble is reported."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from lengthlab.config.schema import Config
from lengthlab.errors import RunFailed
from lengthlab.evaluation.load import load_model
from lengthlab.optimizers import OPTIMIZERS
from lengthlab.runs.run import Run
from lengthlab.training.loop import Trainer, Watcher
from lengthlab.training.step import Engine, answer_loss

pytestmark = pytest.mark.numeric
LOSSES_BEFORE = [4.3770207, 4.3149905, 4.2077735, 3.9521795]  # of the smoke recipe at commit a2a253a


def train(config: Config, **watcher: Callable[..., None]) -> Run:
    run = Run.of(config)
    Trainer(config, run, Watcher(**watcher)).train()
    return run


@pytest.mark.parametrize("optimizer", OPTIMIZERS.names())
def test_training_lowers_the_loss(optimizer: str, smoke: Callable[..., Config], tmp_path: Path) -> None:
    config = smoke(
        f"training.optimizer={optimizer}", "training.optimizer.rate=0.003", "training.steps=60", "training.batch=32"
    )
    trainer = Trainer(config, Run(tmp_path / "run"), Watcher())
    batch = trainer.pipeline.training_batches(0, 2)[0]
    before = answer_loss(trainer.model, batch)[0].item()
    for step in range(60):
        trainer.engine.step(step)
    after = answer_loss(trainer.model, batch)[0].item()
    assert after < 0.6 * before


def test_the_loss_counts_the_answer_and_its_end_and_nothing_else(smoke: Callable[..., Config], tmp_path: Path) -> None:
    trainer = Trainer(smoke("format.padding=none", "format.hints=0"), Run(tmp_path / "run"), Watcher())
    batch = trainer.pipeline.training_batches(3, 3)[0]
    logits = trainer.model(batch.inputs, batch.positions)
    terms = []
    for row, tokens in enumerate(batch.tokens.tolist()):
        for column in range(batch.answer, tokens.index(12) + 1):  # 12 is the end token
            terms.append(-logits[row, column - 1].log_softmax(-1)[tokens[column]].item())
    assert answer_loss(trainer.model, batch)[0].item() == pytest.approx(sum(terms), rel=1e-5)


def test_the_same_config_gives_the_same_numbers(smoke: Callable[..., Config]) -> None:
    def result(run: Run) -> tuple[bytes, list[float], object]:
        return run.weights.read_bytes(), [line["loss"] for line in run.metrics if "loss" in line], run.evaluation

    config = smoke("model.dropout=0.1")
    first = result(train(config))
    torch.manual_seed(123)  # the global generator must not matter
    assert result(train(config)) == first


def test_each_seed_changes_the_run(smoke: Callable[..., Config]) -> None:
    configs = [smoke(), *(smoke(f"seeds.{seed}=1") for seed in ("weights", "data", "sampling"))]
    assert len({config.id for config in configs}) == 4
    assert len({train(config).weights.read_bytes() for config in configs}) == 4


def test_a_finished_run_is_complete_and_loads(smoke: Callable[..., Config]) -> None:
    heard: list[dict[str, object]] = []
    config = smoke()
    run = train(config, metrics=heard.append)
    assert run.status["state"] == "finished" and run.status["step"] == 20
    assert [{k: v for k, v in line.items() if k != "tokens_per_second"} for line in heard] == run.metrics
    assert [line["step"] for line in run.metrics] == [5, 10, 10, 15, 20, 20]
    assert run.metrics[2]["exact_match"].keys() == {"2", "4"}
    losses = [line["loss"] for line in run.metrics if "loss" in line]
    assert losses == pytest.approx(LOSSES_BEFORE, rel=1e-5)
    assert run.config == config and run.config.id == run.id
    environment = json.loads((run.path / "environment.json").read_text())
    assert {"python", "packages", "commit", "cpu", "threads", "precision", "compile"} <= environment.keys()
    model, _ = load_model(run)
    assert not model.training
    assert not list(run.path.glob(".*")), "no temporary file may be left"


def test_a_loss_that_is_not_finite_stops_with_one_sentence(smoke: Callable[..., Config]) -> None:
    config = smoke("training.optimizer={kind: adamw, rate: 1e30}", "training.clip=0", "training.steps=50")
    with pytest.raises(
        RunFailed, match=r"the loss became (nan|inf) at step \d+; try a lower training\.optimizer\.rate"
    ):
        train(config)
    status = Run.of(config).status
    assert status["state"] == "failed" and "the loss became" in status["message"]


def test_an_interrupted_run_says_so_and_keeps_its_weights(smoke: Callable[..., Config]) -> None:
    def interrupt(line: dict[str, object]) -> None:
        if line["step"] == 15:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(smoke(), metrics=interrupt)
    run = Run.of(smoke())
    assert run.status["state"] == "interrupted" and "of 20" in run.status["message"]
    load_model(run)


def first_loss(config: Config, folder: Path) -> float:
    return Trainer(config, Run(folder), Watcher()).engine.step(0)["loss"]


def test_bf16_can_be_forced(smoke: Callable[..., Config], tmp_path: Path) -> None:
    fp32, bf16 = (first_loss(smoke(f"training.precision={name}"), tmp_path / name) for name in ("fp32", "bf16"))
    assert bf16 == pytest.approx(fp32, rel=0.05)
    assert bf16 != fp32


def test_packed_steps_hold_examples_of_all_lengths_and_weigh_every_token_alike(
    smoke: Callable[..., Config], tmp_path: Path
) -> None:
    config = smoke("training.pack=200", "training.batch=4", "training.digits=4", "training.growth=0")
    trainer = Trainer(config, Run(tmp_path / "run"), Watcher())
    batches = trainer.pipeline.training_batches(0, 4)
    assert len(batches) == 4
    assert sum(batch.tokens.numel() for batch in batches) == pytest.approx(4 * 200, rel=0.25)
    losses = [answer_loss(trainer.model, batch)[0].item() for batch in batches]
    expected = sum(losses) / sum(batch.targets.numel() for batch in batches)
    assert trainer.engine.step(0)["loss"] == pytest.approx(expected, rel=1e-5)


def test_the_best_weights_are_chosen_on_training_lengths_only(
    smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores are planted: the best training length comes at step 10, the best longer length at step 15."""
    from lengthlab.evaluation.exact_match import Scores
    from lengthlab.training import loop

    planted = iter([(0.1, 0.0), (0.9, 0.2), (0.5, 1.0)])

    def scores(*arguments: object, **more: object) -> list[Scores]:
        inside, beyond = next(planted, (0.0, 0.0))
        return [Scores(2, 8, inside, 0, 1), Scores(4, 8, beyond, 0, 1)]

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


def test_limits_end_training_after_the_step_that_reaches_them(smoke: Callable[..., Config]) -> None:
    by_examples = train(smoke("training.max_examples=60"))
    assert by_examples.status["step"] == 8 and "training.max_examples reached" in by_examples.status["message"]
    by_tokens = train(smoke("training.max_tokens=400"))
    tokens = [line["tokens"] for line in by_tokens.metrics if "loss" in line][-1]
    assert tokens >= 400 > tokens - 8 * 28
    assert by_tokens.status["state"] == "finished" and by_tokens.evaluation


def test_training_stops_early_once_its_lengths_are_learned(smoke: Callable[..., Config]) -> None:
    learns = smoke(
        "training.digits=1", "format.hints=0", "positions=sequential", "model.width=64", "training.batch=64",
        "training.steps=2000", "training.evaluate_every=50", "training.evaluate_digits=[1, 2]", "training.stop_at=0.5",
        "training.optimizer.rate=0.003", "evaluation.digits=1-2",
    )  # fmt: skip
    run = train(learns)
    assert run.status["state"] == "finished" and run.status["step"] < 2000
    assert "stopped after step" in run.status["message"]
