"""Several processes train one model as one process would."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lengthlab.config.schema import Config
from lengthlab.runs.run import Run
from lengthlab.training.loop import Trainer, Watcher

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("world")]  # they share a server
SMOKE = str(Path(__file__).parents[1] / "smoke.yaml")
OVERRIDES = ["training.log_every=1", "training.batch=9", "training.steps=60", "training.accumulate=2"]
OVERRIDES += ["training.growth=0", "training.digits=8", "training.mastery={accuracy: 0.2, streak: 2}"]
FORKS = str(Path(__file__).with_name("fork_world.py"))
ONE_THREAD = {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
Torchrun = Callable[..., subprocess.Popen[str]]


@pytest.fixture(scope="module")
def torchrun() -> Iterator[Torchrun]:
    """The training command in two processes on this machine."""
    with tempfile.TemporaryDirectory() as short:  # a socket's name has a hundred letters at most
        address = str(Path(short) / "socket")
        forks = [sys.executable, FORKS, address]
        server = subprocess.Popen(
            [sys.executable, FORKS, "serve", address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=os.environ | ONE_THREAD,
        )  # fmt: skip
        assert server.stdout is not None and server.stdout.readline() == b"ready\n"

        def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
            command = [*forks, "torchrun", "--nproc-per-node", "2", "--master-addr", "127.0.0.1", "--master-port", "0"]
            command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0", "--no-python", *forks, "lengthlab"]
            return subprocess.Popen(
                [*command, "train", SMOKE, *OVERRIDES, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True, env=os.environ | ONE_THREAD | {"LENGTHLAB_RUNS": str(folder)},
            )  # fmt: skip

        yield start
        server.communicate(timeout=60)
        assert server.returncode == 0


def longest(run: Run) -> list[int]:
    return [line["longest"] for line in run.metrics if "longest" in line]


def losses(run: Run) -> list[float]:
    return [line["loss"] for line in run.metrics if "loss" in line]


def test_two_processes_give_the_losses_of_one(smoke: Callable[..., Config], torchrun: Torchrun, tmp_path: Path) -> None:
    config = smoke(*OVERRIDES)
    alone = Run(tmp_path / "alone")
    Trainer(config, alone, Watcher()).train()
    process = torchrun(tmp_path / "two")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    together = Run(tmp_path / "two" / config.id)
    assert together.status["state"] == "finished"
    assert losses(together) == pytest.approx(losses(alone), rel=1e-3)
    assert len(losses(together)) == 60
    assert longest(together) == longest(alone) and len(set(longest(alone))) > 1
    assert [line["examples"] for line in together.metrics if "loss" in line][-1] == 60 * 18


def test_a_checkpoint_of_two_processes_resumes_in_one(
    smoke: Callable[..., Config], torchrun: Torchrun, tmp_path: Path
) -> None:
    config = smoke(*OVERRIDES, "training.steps=3000", "training.checkpoint_every=5", "training.log_every=10")
    process = torchrun(tmp_path / "two", "training.steps=3000", "training.checkpoint_every=5", "training.log_every=10")
    assert process.stdout is not None
    for line in process.stdout:
        if "exact match" in line:
            break
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    run = Run(tmp_path / "two" / config.id)
    reached = run.metrics[-1]["step"]
    assert 0 < reached < 3000

    def stop_soon(line: dict[str, int]) -> None:
        if line["step"] > reached + 20:
            raise KeyboardInterrupt

    notes: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        Trainer(config, run, Watcher(metrics=stop_soon, note=notes.append)).train()
    assert any(note.startswith("resuming after step") for note in notes)
    alone = Run(tmp_path / "alone")
    with pytest.raises(KeyboardInterrupt):
        Trainer(config, alone, Watcher(metrics=stop_soon)).train()
    assert losses(run) == pytest.approx(losses(alone), rel=2e-2)
