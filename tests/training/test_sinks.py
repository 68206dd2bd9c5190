"""Metrics go to TensorBoard and Weights & Biases if asked for."""

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lengthlab.config.schema import Config
from lengthlab.runs.run import Run
from lengthlab.training.sinks import FIGURE, FINAL, scalars, sinks

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
    scores = json.loads((run / "evaluation.json").read_text())
    assert [event.step for event in events.Scalars(FINAL)] == [row["digits"] for row in scores]
    assert [event.value for event in events.Scalars("final/5")] == [scores[-1]["exact_match"]]
    assert events.Images(FIGURE)[0].encoded_image_string.startswith(b"\x89PNG")
    hparams = events.summary_metadata["_hparams_/session_start_info"].plugin_data.content
    assert b"training.optimizer.kind" in hparams and b"muon" in hparams


class FakeSession:
    def __init__(self, **given: Any) -> None:
        self.given, self.logged, self.summary, self.over = given, [], {}, False

    def log(self, numbers: dict[str, Any], step: int | None = None) -> None:
        self.logged.append(numbers)

    def finish(self) -> None:
        self.over = True


@pytest.mark.parametrize(
    ("known", "asked", "mode"), [(True, "", "online"), (False, "", "offline"), (True, "shared", "shared")]
)
def test_weights_and_biases_is_online_for_who_is_logged_in(
    known: bool, asked: str, mode: str, trained: Path, smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions: list[FakeSession] = []

    def init(**given: Any) -> FakeSession:
        sessions.append(FakeSession(**given))
        return sessions[0]

    fake = SimpleNamespace(init=init, login=lambda prompt: known, Settings=SimpleNamespace, Image=lambda path: path)
    monkeypatch.setitem(sys.modules, "wandb", fake)
    monkeypatch.setenv("WANDB_MODE", asked)
    with sinks(Run(trained), smoke(), False, True) as (sink,):
        assert not sessions  # nothing is opened before there is something to write
        sink.write({"step": 1, "loss": 0.5})
        sink.finish([{"digits": 5, "exact_match": 0.25}], Path("figure.png"))
    (session,) = sessions
    assert session.given["settings"].mode == mode and session.over
    assert session.logged == [{"loss": 0.5}, {FIGURE: "figure.png"}] and session.summary == {"final/5": 0.25}


@pytest.mark.skipif(importlib.util.find_spec("wandb") is not None, reason="only where it is not installed")
def test_a_sink_that_is_not_installed_is_named(lengthlab: Command, runs_folder: Path) -> None:
    status, _, err = lengthlab("train", "smoke", "--wandb")
    assert status == 2 and err.strip() == "lengthlab: --wandb: not installed; pip install 'lengthlab[wandb]'"
    assert not runs_folder.exists()
