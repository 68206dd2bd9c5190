"""A run that is cut short, in whatever way, ends as if it had not been."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from lengthlab.config.schema import Config
from lengthlab.errors import RunFailed, UserError
from lengthlab.model.build import build_model
from lengthlab.runs.run import Run
from lengthlab.training.checkpoint import load_checkpoint, load_newest, restore, save_checkpoint, saved_steps, state_of
from lengthlab.training.loop import Trainer, Watcher

KILLS = 20
GROWING = [
    "training.growth=0",
    "training.mastery={accuracy: 0.3, deadline: 0.9}",
    "training.digits=12",
    "training.sharpness.most=4",
]
GROWING += [
    "model.loops=2",
    "training.least_loops=1",
    "training.batch_tokens=300",
    "model.initial_keys=queries",
    "model.initial_embeddings=orthogonal",
]
LONG = ["training.steps=200", "training.checkpoint_every=7", "model.dropout=0.1", "training.log_every=3"]


def train(config: Config, run: Run | None = None, **watcher: Callable[..., None]) -> Run:
    run = run or Run.of(config)
    Trainer(config, run, Watcher(**watcher)).train()
    return run


def outcome(run: Run) -> tuple[bytes, bytes, object]:
    """What must not depend on interruptions: weights, metrics and evaluation, byte for byte."""
    return run.weights.read_bytes(), (run.path / "metrics.jsonl").read_bytes(), run.evaluation


@pytest.mark.slow
def test_killed_processes_resume_to_the_same_bits(
    smoke: Callable[..., Config], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """kill -9 at random moments, again and again, then one run to the end. Muon: it has AdamW beside it.

    Growth by mastery is state of its own; at this accuracy it passes through several lengths, slowly.
    """
    overrides = [*LONG, "training.steps=130", "training.checkpoint_every=3", "training.optimizer=muon", *GROWING]
    config = smoke(*overrides)
    expected = outcome(train(config, Run(tmp_path / "undisturbed" / config.id)))
    command = [sys.executable, str(Path(__file__).with_name("nursery.py")), str(KILLS), *overrides]
    killed = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert killed.returncode == 0, killed.stderr
    steps = json.loads(killed.stdout)
    assert len(steps) == KILLS and steps == sorted(steps) and len(set(steps)) > 5  # they got somewhere
    record_property("kills", KILLS)
    assert Run.of(config).status["state"] == "running"  # nobody could say that it was killed
    assert outcome(train(config)) == expected
    assert len({line["longest"] for line in Run.of(config).metrics if "longest" in line}) > 3
    assert Run.of(config).status["state"] == "finished"


def test_an_interrupt_stops_between_two_steps_and_the_run_resumes(smoke: Callable[..., Config], tmp_path: Path) -> None:
    config = smoke(*LONG, "training.steps=60", "training.examples=320", "seeds.order=2")  # what was seen is state too
    expected = outcome(train(config, Run(tmp_path / "undisturbed" / config.id)))
    for number, step in [(signal.SIGINT, 24), (signal.SIGTERM, 45)]:

        def interrupt(line: dict[str, int], number: int = number, step: int = step) -> None:
            if line["step"] == step:
                os.kill(os.getpid(), number)

        with pytest.raises(KeyboardInterrupt):
            train(config, metrics=interrupt)
        status = Run.of(config).status
        assert (status["state"], status["step"]) == ("interrupted", step)
        assert saved_steps(Run.of(config).checkpoints)[-1] == step
    notes: list[str] = []
    assert outcome(train(config, note=notes.append)) == expected
    assert "resuming after step 45" in notes


def test_only_the_newest_checkpoints_are_kept(smoke: Callable[..., Config]) -> None:
    run = train(smoke("training.checkpoint_every=3", "training.keep=2"))
    assert saved_steps(run.checkpoints) == [18, 20]
    assert len(list(run.checkpoints.iterdir())) == 4


def test_a_checkpoint_restores_weights_and_optimizers_exactly(smoke: Callable[..., Config]) -> None:
    config = smoke()
    run = train(config)
    trainer = Trainer(config, run, Watcher())
    checkpoint, notes = load_newest(run.checkpoints)
    assert checkpoint is not None and not notes and checkpoint.step == 20
    restore(checkpoint, trainer.model, trainer.engine.optimizers)
    state = state_of(trainer.model, trainer.engine.optimizers)
    assert state.keys() | {"progress"} == checkpoint.tensors.keys() | checkpoint.values.keys()
    assert all(torch.equal(state[name], tensor) for name, tensor in checkpoint.tensors.items())


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda content: content[:-10],
    "altered": lambda content: content[:-40] + bytes([content[-40] ^ 1]) + content[-39:],
    "empty": lambda content: b"",
    "pickle": lambda content: b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R.",
}


def test_a_damaged_checkpoint_is_passed_over_and_named(smoke: Callable[..., Config], tmp_path: Path) -> None:
    config = smoke("training.steps=15", "training.checkpoint_every=4", "training.log_every=1", "evaluation.digits=1-2")
    expected = outcome(train(config, Run(tmp_path / "undisturbed" / config.id)))

    def interrupt(line: dict[str, int]) -> None:
        if line["step"] == 10:
            raise KeyboardInterrupt  # as a second Ctrl-C would: at once, without a checkpoint

    with pytest.raises(KeyboardInterrupt):
        train(config, metrics=interrupt)
    interrupted = Run.of(config)
    assert saved_steps(interrupted.checkpoints) == [4, 8]
    for suffix, (name, damage) in product([".safetensors", ".json"], DAMAGE.items()):
        run = Run(tmp_path / f"{name}{suffix}" / config.id)
        shutil.copytree(interrupted.path, run.path)
        file = run.checkpoints / f"00000008{suffix}"
        file.write_bytes(damage(file.read_bytes()))
        notes: list[str] = []
        assert outcome(train(config, run, note=notes.append)) == expected, file
        assert any(file.name in note and "going back to the one before" in note for note in notes), notes
        assert "resuming after step 4" in notes


def stop_at(config: Config, step: int) -> Run:
    """Train a run and stop it with a checkpoint after some steps."""

    def stop(line: dict[str, int]) -> None:
        if line["step"] == step:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt):
        train(config, metrics=stop)
    return Run.of(config)


def test_an_edited_step_count_is_noticed(smoke: Callable[..., Config]) -> None:
    run = stop_at(smoke("training.checkpoint_every=5"), 15)
    file = run.checkpoints / "00000015.json"
    edited = file.read_text().replace('"steps": 15', '"steps": 12')
    assert edited != file.read_text()
    file.write_text(edited)
    checkpoint, notes = load_newest(run.checkpoints)
    assert checkpoint is not None and checkpoint.step == 10
    assert any("00000015.json does not fit the checksum" in note for note in notes)


def test_checkpoints_of_another_run_are_refused_and_nothing_is_lost(smoke: Callable[..., Config]) -> None:
    run, other = stop_at(smoke(), 15), stop_at(smoke("seed=2"), 15)
    shutil.rmtree(run.checkpoints)
    shutil.copytree(other.checkpoints, run.checkpoints)
    before = run.weights.read_bytes()
    with pytest.raises(UserError, match=rf"belong to another config \({other.id}, not {run.id}\); --fresh"):
        train(smoke())
    assert run.weights.read_bytes() == before and saved_steps(run.checkpoints) == [15]


def test_a_run_killed_at_its_last_checkpoint_ends_with_its_last_weights(
    smoke: Callable[..., Config], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = smoke()
    expected = outcome(train(config, Run(tmp_path / "undisturbed" / config.id)))

    def save_and_die(folder: Path, step: int, *rest: Any) -> None:
        save_checkpoint(folder, step, *rest)
        if step == 20:
            raise KeyboardInterrupt  # at once, as a kill would

    with monkeypatch.context() as patch:
        patch.setattr("lengthlab.training.loop.save_checkpoint", save_and_die)
        with pytest.raises(KeyboardInterrupt):
            train(config)
    assert outcome(train(config)) == expected


def test_ruined_weights_are_not_kept(smoke: Callable[..., Config]) -> None:
    config = smoke(
        "training.optimizer={kind: adamw, rate: 1e30, weight_decay: 1e30}",
        "training.steps=1",
        "training.checkpoint_every=1",
    )
    with pytest.raises(RunFailed, match=r"the sum of the weights became (nan|-?inf) at step 1; try a lower"):
        train(config)
    assert not saved_steps(Run.of(config).checkpoints) and Run.of(config).status["state"] == "failed"


def test_only_a_run_that_was_begun_is_resumed(lengthlab: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("training: {steps: 3}\n")
    (tmp_path / "thesis.tex").write_text("years of work")
    status, _, err = lengthlab("train", "--resume", str(tmp_path))
    assert status == 2 and "no run was started there" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.yaml", "thesis.tex"]


def test_without_a_whole_checkpoint_a_run_starts_again(smoke: Callable[..., Config]) -> None:
    config = smoke("training.checkpoint_every=10")
    expected = outcome(train(config))
    run = Run.of(config)
    run.set_status("running")
    for file in run.checkpoints.glob("*.json"):
        file.write_text("{}")
    notes: list[str] = []
    assert outcome(train(config, note=notes.append)) == expected
    assert not any("resuming after" in note for note in notes)
    assert any(note.endswith("none is left: starting again") for note in notes)


def test_two_processes_cannot_train_one_run(smoke: Callable[..., Config]) -> None:
    config = smoke()
    run = Run.of(config)
    with (
        run.lock(),
        pytest.raises(UserError, match=rf"run {run.id} is being trained by process {os.getpid()} on .*; wait"),
    ):
        train(config)
    train(config)  # the lock is gone with its holder


def test_a_lock_left_by_a_dead_process_does_not_count(smoke: Callable[..., Config]) -> None:
    run = Run.of(smoke())
    run.path.mkdir(parents=True)
    (run.path / "lock").write_text("process 1 on a machine that is no more\n")
    assert train(smoke()).status["state"] == "finished"


def test_a_full_disk_ends_in_one_sentence_and_an_intact_checkpoint(
    smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = smoke("training.checkpoint_every=5")
    expected = outcome(train(config, Run(tmp_path / "undisturbed" / config.id)))
    written: list[int] = []
    real = os.fsync

    def full_disk(descriptor: int) -> None:
        written.append(descriptor)
        if len(written) > 34:
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(RunFailed, match=r"cannot use .* \(No space left on device\); lengthlab train --resume"):
        train(config)
    monkeypatch.undo()
    monkeypatch.setenv("LENGTHLAB_RUNS", str(tmp_path / "runs"))
    checkpoint, notes = load_newest(Run.of(config).checkpoints)
    assert checkpoint is not None and not notes
    assert outcome(train(config)) == expected


def test_a_removed_folder_ends_in_one_sentence(smoke: Callable[..., Config]) -> None:
    config = smoke()

    def remove(line: dict[str, int]) -> None:
        shutil.rmtree(Run.of(config).path)

    with pytest.raises(RunFailed, match=r"cannot use .* \(No such file or directory\)"):
        train(config, metrics=remove)


def test_a_checkpoint_of_another_model_is_not_taken(smoke: Callable[..., Config]) -> None:
    run = train(smoke())
    checkpoint = load_checkpoint(run.checkpoints, 20)
    other = build_model(smoke("model.width=64"), 48)
    with pytest.raises(RuntimeError):
        restore(checkpoint, other, [])
