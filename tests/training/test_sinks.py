"""Metrics go to TensorBoard and Weights & Biases if asked for."""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lengthlab.training.sinks import scalars

Command = Callable[..., tuple[int, str, str]]


def test_lines_become_flat_names() -> None:
    line = {"step": 3, "loss": 0.5, "exact_match": {"10": 0.9, "15": 0.1}}
    assert scalars(line) == {"loss": 0.5, "exact_match/10": 0.9, "exact_match/15": 0.1}


def test_tensorboard_reads_back_what_was_logged(lengthlab: Command) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    status, out, err = lengthlab("train", "smoke", "--tensorboard", "--json")
    assert status == 0, err
    run = Path(json.loads(out)["run"])
    events = EventAccumulator(str(run / "tensorboard"))
    events.Reload()
    logged = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    losses = [(line["step"], line["loss"]) for line in logged if "loss" in line]
    assert [(event.step, pytest.approx(event.value, rel=1e-5)) for event in events.Scalars("loss")] == losses
    assert [event.step for event in events.Scalars("exact_match/2")] == [10, 20]


@pytest.mark.skipif(importlib.util.find_spec("wandb") is not None, reason="only where it is not installed")
def test_a_sink_that_is_not_installed_is_named(lengthlab: Command, runs_folder: Path) -> None:
    status, _, err = lengthlab("train", "smoke", "--wandb")
    assert status == 2 and err.strip() == "lengthlab: --wandb: not installed; pip install -e '.[wandb]'"
    assert not runs_folder.exists()
