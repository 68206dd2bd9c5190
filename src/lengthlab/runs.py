"""A run is a folder, `runs/<id>/`, whose name is a hash of its resolved config.

config.yaml         the resolved config; a recipe in its own right
environment.json    versions, commit, machine
status.json         state: running, finished, interrupted or failed; the step; a message
metrics.jsonl       one line for each logged step or evaluation during training
model.safetensors   the weights
evaluation.json     exact match for each digit length
"""

import json
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from lengthlab.config import Config
from lengthlab.errors import UserError, suggestion
from lengthlab.files import append_line, read_lines, write_atomically, write_json
from lengthlab.recipes.load import load_config

State = Literal["running", "finished", "interrupted", "failed"]


def runs_folder() -> Path:
    """Where runs are kept: $LENGTHLAB_RUNS, or `runs` in the current folder."""
    return Path(os.environ.get("LENGTHLAB_RUNS", "runs"))


@dataclass(frozen=True)
class Run:
    """Reads and writes one run folder."""

    path: Path

    @classmethod
    def of(cls, config: Config) -> "Run":
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
    def config(self) -> Config:
        return load_config(str(self.path / "config.yaml"))

    @property
    def weights(self) -> Path:
        return self.path / "model.safetensors"

    @property
    def status(self) -> dict[str, Any]:
        return self._read_json("status.json") or {}

    @property
    def metrics(self) -> list[dict[str, Any]]:
        return read_lines(self.path / "metrics.jsonl")

    @property
    def evaluation(self) -> list[dict[str, Any]] | None:
        """The rows of the evaluation, or None before there is one."""
        return self._read_json("evaluation.json")

    def begin(self, config: Config, environment: dict[str, Any]) -> None:
        """Make the folder afresh, without what an earlier attempt left."""
        if self.path.exists():
            shutil.rmtree(self.path)
        self.path.mkdir(parents=True)
        write_atomically(self.path / "config.yaml", yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))
        write_json(self.path / "environment.json", environment)
        self.set_status("running", step=0, steps=config.training.steps)

    def set_status(self, state: State, **details: Any) -> None:
        write_json(self.path / "status.json", self.status | {"state": state, "time": time.time()} | details)

    def log(self, metrics: dict[str, Any]) -> None:
        append_line(self.path / "metrics.jsonl", metrics)

    def save_evaluation(self, rows: list[dict[str, Any]]) -> None:
        write_json(self.path / "evaluation.json", rows)

    def _read_json(self, name: str) -> Any:
        path = self.path / name
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
