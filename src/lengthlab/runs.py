"""A run is a folder, `runs/<id>/`, whose name is a hash of its resolved config.

config.yaml         the resolved config; a recipe in its own right
environment.json    versions, commit, machine
status.json         state: running, finished, interrupted or failed; the step; a message
metrics.jsonl       one line for each logged step or evaluation during training
speed.jsonl         tokens per second at the logged steps: all that differs when a run is repeated
starts.jsonl        one line for each time that a process began to train the run: when, who, after which step
checkpoints/        what an interrupted run goes on from
lock                held by the process that trains the run
model.safetensors   the last weights
best.safetensors    the weights that were best on lengths of training
ema.safetensors     the moving average of the weights, if there is one
examples/           one line for each test problem
evaluation.json     the scores for each digit length
"""

import fcntl
import json
import os
import platform
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml

from lengthlab.errors import RunBusy, UserError, suggestion
from lengthlab.files import append_line, read_lines, write_atomically, write_json, write_lines

if TYPE_CHECKING:
    from lengthlab.config import Config  # brings torch, which listing runs can do without

State = Literal["running", "finished", "interrupted", "failed"]
# What a new start removes. A folder may hold what is not a run's, and that is left alone.
MADE_BY_A_RUN = (
    "environment.json", "status.json", "metrics.jsonl", "speed.jsonl", "checkpoints", "examples", "model.safetensors",
    "best.safetensors", "ema.safetensors", "evaluation.json", "errors.json", "analysis", "tensorboard", "wandb",
)  # fmt: skip


def runs_folder() -> Path:
    """Where runs are kept: $LENGTHLAB_RUNS, or `runs` in the current folder."""
    return Path(os.environ.get("LENGTHLAB_RUNS", "runs"))


@dataclass(frozen=True)
class Run:
    """Reads and writes one run folder."""

    path: Path

    @classmethod
    def of(cls, config: "Config") -> "Run":
        """The folder that belongs to a config; it may not exist yet."""
        return cls(runs_folder() / config.id)

    @classmethod
    def find(cls, name: str) -> "Run":
        """An existing run by its folder or by the beginning of its id."""
        if (Path(name) / "config.yaml").is_file():
            return cls(Path(name))
        known = sorted(path.parent.name for path in runs_folder().glob("*/config.yaml"))
        matching = [run for run in known if run.startswith(name)] if name else []
        if len(matching) == 1:
            return cls(runs_folder() / matching[0])
        if matching:
            raise UserError(f"run {name!r} could be any of {', '.join(matching)}")
        hint = suggestion(name, known) if known else "there are none yet: lengthlab train makes one"
        raise UserError(f"no run {name!r} in {runs_folder()}; {hint}")

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def config(self) -> "Config":
        from lengthlab.recipes.load import load_config

        try:
            return load_config(str(self.path / "config.yaml"))
        except UserError as error:
            raise UserError(f"{self.path / 'config.yaml'}: {error}") from None

    @property
    def weights(self) -> Path:
        """The last weights."""
        return self.weights_file("last")

    def weights_file(self, which: str) -> Path:
        """The file of some weights: last, best (on lengths of training) or ema."""
        return self.path / {"last": "model.safetensors", "best": "best.safetensors", "ema": "ema.safetensors"}[which]

    @property
    def status(self) -> dict[str, Any]:
        return self._read_json("status.json") or {}

    @property
    def metrics(self) -> list[dict[str, Any]]:
        return read_lines(self.path / "metrics.jsonl")

    @property
    def speed(self) -> dict[int, float]:
        """Tokens per second at each logged step."""
        return {line["step"]: line["tokens_per_second"] for line in read_lines(self.path / "speed.jsonl")}

    @property
    def starts(self) -> list[dict[str, Any]]:
        """Every time that a process began to train this run: when, who, after which step."""
        return read_lines(self.path / "starts.jsonl")

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def examples(self) -> Path:
        return self.path / "examples"

    @property
    def evaluation(self) -> list[dict[str, Any]] | None:
        """The rows of the evaluation with the first of the weights it was asked for, or None before there is one."""
        stored = self._read_json("evaluation.json")
        return self.evaluation_of(stored[0]["weights"]) if stored else None

    def evaluation_of(self, weights: str) -> list[dict[str, Any]]:
        """The rows of the evaluation with these weights: last, best or ema."""
        stored = self._read_json("evaluation.json") or []
        return [
            {key: value for key, value in row.items() if key != "weights"}
            for row in stored
            if row["weights"] == weights
        ]

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes from training this run. The system lets go of the lock when its holder dies."""
        self.path.mkdir(parents=True, exist_ok=True)
        with open(self.path / "lock", "a+", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                holder = file.read().strip() or "another process"
                raise RunBusy(f"run {self.id} is being trained by {holder}; wait for it or stop it") from None
            file.truncate(0)
            file.write(f"{_me()}\n")
            file.flush()
            yield

    def begin(self, config: "Config", environment: dict[str, Any]) -> None:
        """Start afresh, without what an earlier attempt left."""
        self.path.mkdir(parents=True, exist_ok=True)
        for left in (self.path / name for name in MADE_BY_A_RUN):
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink(missing_ok=True)
        self._remove_parts()
        write_atomically(self.path / "config.yaml", yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))
        write_json(self.path / "environment.json", environment)
        self._log_start(0)
        self.set_status("running", step=0, steps=config.training.steps)

    def set_status(self, state: State, **details: Any) -> None:
        write_json(self.path / "status.json", self.status | {"state": state, "time": time.time()} | details)

    def go_on(self, step: int, environment: dict[str, Any]) -> None:
        """Continue after `step` steps: what was logged later will be logged again."""
        self._remove_parts()
        for name in ("metrics.jsonl", "speed.jsonl"):
            lines = [line for line in read_lines(self.path / name) if line["step"] <= step]
            write_lines(self.path / name, lines)
        write_json(self.path / "environment.json", environment | {"resumed_at": step})
        self._log_start(step)
        self.set_status("running", step=step, message=f"resumed at step {step}")

    def _remove_parts(self) -> None:
        """Remove what a killed process left half written."""
        for folder in (self.path, self.checkpoints):
            for part in folder.glob(".*.part"):
                part.unlink()
        for tensors in self.checkpoints.glob("*.safetensors"):
            if not tensors.with_suffix(".json").exists():
                tensors.unlink()

    def _log_start(self, step: int) -> None:
        append_line(self.path / "starts.jsonl", {"time": time.time(), "by": _me(), "after_step": step})

    def log(self, metrics: dict[str, Any]) -> None:
        append_line(self.path / "metrics.jsonl", metrics)

    def log_speed(self, step: int, tokens_per_second: float) -> None:
        append_line(self.path / "speed.jsonl", {"step": step, "tokens_per_second": tokens_per_second})

    def save_evaluation(self, rows: list[dict[str, Any]]) -> None:
        write_json(self.path / "evaluation.json", rows)

    def _read_json(self, name: str) -> Any:
        path = self.path / name
        try:
            return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        except ValueError:
            raise UserError(
                f"{path}: damaged (not valid JSON); remove it, or train the run again with --fresh"
            ) from None


def _me() -> str:
    return f"process {os.getpid()} on {platform.node()}"
