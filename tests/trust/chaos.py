"""A small run dies before each of its file operations in turn; print what became of it.

    a run in a forked child: before each file operation, its folder as it stands   -> states
    for each state that differs from the one before: put it back, train, compare   -> lost, silently different

What a process that dies before an operation leaves behind is its folder as it stands at that moment, so one run shows
all its deaths; children that do die show that this is so. Opening a file to write, syncing, renaming and removing are
counted, in the run folder alone. A script of its own, because only a process without other threads may fork.
"""

import json
import os
import pickle
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from lengthlab.config.load import load_config
from lengthlab.config.schema import Config
from lengthlab.runs import environment
from lengthlab.runs.run import Run
from lengthlab.training.loop import Trainer, Watcher

DEAD = 9
REAL = 25  # one operation in so many is one that a child dies before
TRAINING = ("steps=3", "checkpoint_every=2", "log_every=1", "batch=2", "keep=1", "digits=2")
TESTS = ("evaluate_every=1", "evaluate_digits=[1]", "evaluate_examples=2")
SMALL = [f"training.{setting}" for setting in (*TRAINING, *TESTS)]
SMALL += ["evaluation.digits=[1]", "evaluation.examples=2", "encoding=none", "format.hints=0"]
SMALL += ["model.layers=1", "model.heads=1", "model.width=8", "model.feedforward=8"]
AVERAGED = ["training.ema=0.9", "evaluation.weights=[last,best,ema]"]
VARIANTS: dict[str, tuple[list[str], bool]] = {  # overrides, and whether a finished run is trained afresh
    "AdamW, packed, fp32": (["training.pack=64"], False),
    "Muon, moving average, bf16, --fresh": ([*AVERAGED, "training.optimizer=muon", "training.precision=bf16"], True),
}
COMPARED = ("config.yaml", "metrics.jsonl", "evaluation.json", *(f"{w}.safetensors" for w in ("model", "best", "ema")))

State = dict[str, bytes | None]  # of a folder: what is in each file; None for a folder


def state_of(folder: Path) -> State:
    if not folder.exists():
        return {}
    inside = {str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes() for path in folder.rglob("*")}
    return dict(sorted(({".": None} | inside).items()))


def put_back(folder: Path, state: State) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in state.items():  # a folder comes before what it holds
        if content is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_bytes(content)


def in_child(work: Callable[[], None]) -> int:
    """The exit status of a forked process that does some work."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def before_operations(folder: Path, act: Callable[[], None]) -> None:
    """From here on in this process, act before each file operation in a folder."""

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir"):
            return
        if event == "open":
            _, mode, flags = arguments  # no mode: os.open, which `open` calls in its turn
            if mode is None or not (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)):
                return
        path = arguments[0]
        within = event in ("os.remove", "os.rmdir") and arguments[1] != -1  # of rmtree: relative to a folder
        if within or (isinstance(path, str | os.PathLike) and os.fspath(path).startswith(str(folder))):
            act()

    os.fsync = lambda fd: act()
    sys.addaudithook(hear)


def no_sync(fd: Any) -> None:
    """Processes die here, not the power."""


def train(config: Config, run: Run, fresh: bool = False) -> None:
    Trainer(config, run, Watcher()).train(fresh)


def outcome(run: Run) -> dict[str, Any]:
    """What must not depend on who died when."""
    found: dict[str, Any] = {name: file.read_bytes() for name in COMPARED if (file := run.path / name).exists()}
    found |= {str(file.name): file.read_bytes() for file in run.examples.iterdir()}
    left = sorted(str(part) for part in run.path.rglob("*.part"))
    return found | {"state": run.status["state"], "damage": [str(damage) for damage in run.damage()], "left": left}


class Attack:
    """Every death of one variant."""

    def __init__(self, name: str, folder: Path) -> None:
        overrides, self.fresh = VARIANTS[name]
        self.config = load_config(str(Path(__file__).parents[1] / "smoke.yaml"), [*SMALL, *overrides])
        self.run = Run(folder / self.config.id)
        train(self.config, self.run)  # in this process: its children find all modules imported and warm
        self.expected = outcome(self.run)
        assert not self.expected["damage"] and self.expected["state"] == "finished"
        self.beginning = state_of(self.run.path) if self.fresh else {}

    def states(self) -> list[State]:
        """The folder as it stands before each operation of a run."""
        told = self.run.path.with_suffix(".told")

        def watched() -> None:
            seen: list[State] = []
            before_operations(self.run.path, lambda: seen.append(state_of(self.run.path)))
            train(self.config, self.run, self.fresh)
            told.write_bytes(pickle.dumps(seen))

        put_back(self.run.path, self.beginning)
        assert in_child(watched) == 0 and outcome(self.run) == self.expected
        return pickle.loads(told.read_bytes())

    def die(self, operation: int) -> State:
        """The folder that a child leaves that dies before an operation."""
        count = iter(range(operation))

        def dying() -> None:
            before_operations(self.run.path, lambda: None if next(count, None) is not None else os._exit(DEAD))
            train(self.config, self.run, self.fresh)

        put_back(self.run.path, self.beginning)
        assert in_child(dying) == DEAD
        return state_of(self.run.path)

    def all_deaths(self) -> dict[str, Any]:
        states, lost, different = self.states(), [], []
        for operation, state in enumerate(states):
            if operation % REAL == 0:
                assert comparable(self.die(operation)) == comparable(state), operation
            if operation and state == states[operation - 1]:
                continue
            put_back(self.run.path, state)
            try:
                train(self.config, self.run)
            except Exception as error:
                lost.append([operation, str(error)])
                continue
            if (found := outcome(self.run)) != self.expected:
                different.append([operation, [key for key in found if found[key] != self.expected.get(key)]])
        return {"deaths": len(states), "lost": lost, "different": different}


def comparable(state: State) -> State:
    """A state without times and numbers of processes."""
    alike = {re.sub(r"\.\d+\.part$", ".part", name): content for name, content in state.items()}
    return {name: content if name in COMPARED else b"" for name, content in alike.items()}


def make_quick() -> None:
    """Leave out what takes time and is no part of the question."""
    torch.set_num_threads(1)
    environment.describe = lambda **choices: choices  # two processes of git, five packages' versions
    os.fsync = no_sync
    os.environ["LENGTHLAB_BF16"] = "yes"  # torch's own bf16 is slow where there is none, but starts at once


if __name__ == "__main__":
    make_quick()
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps({name: Attack(name, Path(place)).all_deaths() for name in VARIANTS}))
