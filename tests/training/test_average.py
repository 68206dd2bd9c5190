"""The moving average of the weights."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from lengthlab.config.schema import Config
from lengthlab.evaluation.load import load_model
from lengthlab.runs.run import Run
from lengthlab.training.loop import Trainer, Watcher
from lengthlab.training.step import Engine

pytestmark = pytest.mark.numeric


def train(config: Config) -> Run:
    run = Run.of(config)
    Trainer(config, run, Watcher()).train()
    return run


def test_the_average_of_the_weights_follows_its_formula(smoke: Callable[..., Config]) -> None:
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


def test_the_average_is_resumed_exactly_and_evaluated_on_the_way(smoke: Callable[..., Config], tmp_path: Path) -> None:
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
