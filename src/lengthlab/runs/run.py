"""A run is a folder, `runs/<id>/`, whose name is a hash of its resolved config.

config.yaml         the resolved config; a recipe in its own right
environment.json    versions, commit, machine
status.json         state: running, finished, interrupted or failed; the step; a message; the recipe's name; checksums
metrics.jsonl       one line for each logged step or evaluation during training
speed.jsonl         tokens per second, processor time: all that differs when a run is repeated
starts.jsonl        one line for each time that a process began to train the run: when, who, after which step
checkpoints/        what an interrupted run resumes from
lock                held by the process that trains the run
model.safetensors   the last weights
best.safetensors    the weights that were best on training lengths
ema.safetensors     the moving average of the weights, if there is one
examples/           one line for each test problem
evaluation.json     the scores for each digit length
errors.json         what an analysis of the mistakes came to, if there was one
"""

import json
import os
import re
import shlex
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lengthlab.config.yaml_text import dump_yaml
from lengthlab.errors import UserError, suggestion
from lengthlab.runs import seal
from lengthlab.runs.columns import Row, is_number
from lengthlab.runs.files import (
    Damaged,
    append_line,
    read_lines,
    read_rows,
    write_atomically,
    write_json,
    write_lines,
)
from lengthlab.runs.lock import locked, this_process
from lengthlab.runs.reader import (
    METRICS,
    SCORES,
    SPEED,
    STARTS,
    checksum,
    read_config,
    read_list,
    read_status,
)
from lengthlab.runs.weights import read_parameters

if TYPE_CHECKING:
    from lengthlab.config.schema import Config  # brings torch, which listing runs can do without

FOUND_BY = ("config.yaml", "status.json")  # a folder with one of these is a run's
IS_ID = re.compile(r"[0-9a-f]{10}")
State = Literal["running", "finished", "interrupted", "failed"]
# What a new start removes, checkpoints first: a process that died in between must not resume without its metrics.
# The status stays, and says that the run is running. A folder may hold what is not a run's, and that is left alone.
MADE_BY_A_RUN = (
    "checkpoints", "environment.json", "metrics.jsonl", "speed.jsonl", "examples", "model.safetensors",
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
        if any((Path(name) / file).is_file() for file in FOUND_BY):
            return cls(Path(name))
        known = sorted({path.parent.name for file in FOUND_BY for path in runs_folder().glob(f"*/{file}")})
        matching = [run for run in known if run.startswith(name)] if name else []
        if len(matching) == 1 or name in matching:
            return cls(runs_folder() / (name if name in matching else matching[0]))
        if matching:
            raise UserError(f"run {name!r} could be any of {', '.join(matching)}")
        hint = suggestion(name, known) if known else "there are none yet: lengthlab train makes one"
        raise UserError(f"no run {name!r} in {runs_folder()}; {hint}")

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def resume_command(self) -> str:
        """What to type to resume it: with its id if that finds it, or else with its folder."""
        inside = self.path.absolute().parent == runs_folder().absolute()
        return shlex.join(["lengthlab", "train", "--resume", self.id if inside else str(self.path)])

    @property
    def config(self) -> "Config":
        from lengthlab.config.load import validate

        path, kept = self.path / "config.yaml", self.known_status().get("config_sha256")
        try:
            data = read_config(path, kept)
        except FileNotFoundError:
            cure = f"{self.resume_command} writes it anew from its checkpoint"
            raise Damaged(path, seal.MISSING, cure=cure) from None
        try:
            config = validate(data)
        except UserError as error:
            raise UserError(f"{path}: {error}") from None
        if kept is None and IS_ID.fullmatch(self.id) and config.id != self.id and not seal.trusted():
            reason = f"its id is {config.id}, not that of the folder"
            cure = "it was changed, or written by another version of lengthlab; --trust uses it as it is"
            raise Damaged(path, reason, cure=cure)
        return config

    def config_with(self, overrides: Sequence[str]) -> "Config":
        """The config, checked against what training began with, and then with other settings."""
        from lengthlab.config.load import load_config

        config = self.config
        return load_config(str(self.path / "config.yaml"), overrides) if overrides else config

    @property
    def weights(self) -> Path:
        """The last weights."""
        return self.weights_file("last")

    def weights_file(self, which: str) -> Path:
        """The file of some weights: last, best (on training lengths) or ema."""
        return self.path / seal.WEIGHTS[which]

    @property
    def status(self) -> Row:
        return read_status(self.path / "status.json")

    @property
    def recipe(self) -> str:
        """The name of the recipe that it was started from; empty if that was not kept."""
        return self.status.get("recipe", "")

    @property
    def metrics(self) -> list[Row]:
        path = self.path / "metrics.jsonl"
        lines = read_lines(path, METRICS)
        self.require(path)
        return lines

    @property
    def speed(self) -> dict[int, float]:
        """Tokens per second at each logged step, as far as it is known."""
        return {line["step"]: line["tokens_per_second"] for line in self._speed_lines()}

    @property
    def processor_seconds(self) -> float | None:
        """Processor time of all training steps, on all cores together; None for runs of versions that did not keep it.

        Unlike the time on the clock it hardly depends on what else a machine does.
        """
        lines = self._speed_lines()
        spent = [line.get("processor_seconds") for line in lines]
        return sum(filter(None, spent)) if spent and all(map(is_number, spent)) else None

    def _speed_lines(self) -> list[Row]:
        return read_rows(self.path / "speed.jsonl", SPEED)[0]

    @property
    def starts(self) -> list[Row]:
        """Every time that a process began to train this run: when, who, after which step."""
        return read_rows(self.path / "starts.jsonl", STARTS)[0]

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def examples(self) -> Path:
        return self.path / "examples"

    @property
    def evaluation(self) -> list[Row] | None:
        """The rows of the evaluation with the first of the weights it was asked for, or None before there is one."""
        rows = self._scores()
        return [row for row in rows if row["weights"] == rows[0]["weights"]] if rows else None

    def evaluation_of(self, weights: str) -> list[Row]:
        """The rows of the evaluation with these weights: last, best or ema."""
        return [row for row in self._scores() if row["weights"] == weights]

    def _scores(self) -> list[Row]:
        path = self.path / "evaluation.json"
        rows, broken = read_list(path, SCORES)
        if broken:
            raise Damaged(path, "row {}: {}".format(*broken[0]))
        self.require(path)
        return rows

    def require(self, path: Path) -> None:
        """Raise Damaged if a file is not what the status lists, or if there is no status, unless the user trusts it."""
        status = self.status
        if "state" not in status and not seal.trusted():
            raise Damaged(self.path / "status.json", "no state", cure=seal.CURE.format(self.path))
        seal.require(path, status)

    def damage(self) -> list[Damaged]:
        """Every file that is not what the status lists, the status itself included."""
        try:
            return list(seal.damage(self.path, self.status))
        except Damaged as error:
            return [error]

    @property
    def errors(self) -> Path:
        return self.path / "errors.json"

    def lock(self) -> AbstractContextManager[None]:
        """Keep other processes from training this run."""
        return locked(self.path)

    def begin(self, config: "Config", environment: Row, recipe: str = "") -> None:
        """Start afresh, without what an earlier attempt left. `recipe` names where the config came from."""
        self.path.mkdir(parents=True, exist_ok=True)
        if (self.path / "status.json").exists():
            self._write_status({"state": "running", "time": time.time(), "step": 0, "recipe": recipe})
        for name in MADE_BY_A_RUN:
            _remove(self.path / name)
        self._known_lines("starts.jsonl", STARTS)  # earlier starts are kept
        self.remove_parts()
        kept = {"recipe": recipe, "config_sha256": self._write_config(config)}
        write_json(self.path / "environment.json", environment)
        self._log_start(0)
        self._write_status({"state": "running", "time": time.time(), "step": 0, "steps": config.training.steps} | kept)

    def resume(self, config: "Config", step: int, environment: Row, lines: int | None = None) -> None:
        """Resume after `step` steps: what was logged later will be logged again.

        `lines` of the metrics belong to those steps; None if that is not known.
        """
        metrics, _ = read_rows(self.path / "metrics.jsonl", METRICS)
        sound = [line for line in metrics if line["step"] <= step][:lines]
        speeds = [line for line in self._known_lines("speed.jsonl", SPEED) if line["step"] <= step]
        starts, listed = self._known_lines("starts.jsonl", STARTS), _files(self.known_status())
        files = {name: known for name, known in listed.items() if name in seal.WEIGHTS.values()}
        # Until all files are as they should be, the status lists none but the weights.
        now = {"step": step, "steps": config.training.steps, "message": f"resumed at step {step}", "files": files}
        self.set_status("running", **now, config_sha256=None)
        self.remove_parts()
        self.errors.unlink(missing_ok=True)  # made of finished weights, and made again when it is asked for
        write_lines(self.path / "metrics.jsonl", sound)
        write_lines(self.path / "speed.jsonl", speeds)
        write_lines(self.path / "starts.jsonl", starts)
        write_json(self.path / "environment.json", environment | {"resumed_at": step})
        self._log_start(step)
        self.set_status("running", config_sha256=self._write_config(config))

    def _known_lines(self, name: str, check: Callable[[Any], str]) -> list[Row]:
        """The sound lines of a file; one that is no file at all is removed."""
        try:
            return read_rows(self.path / name, check)[0]
        except Damaged:
            _remove(self.path / name)
            return []

    def _write_config(self, config: "Config") -> str:
        """Write config.yaml; returns its checksum."""
        text = dump_yaml(config.model_dump(mode="json"))
        write_atomically(self.path / "config.yaml", text)
        return checksum(text)

    def known_status(self) -> Row:
        """The status, empty if it is damaged: what is written next is worth more."""
        try:
            return self.status
        except Damaged:
            return {}

    def set_status(self, state: State, **details: Any) -> None:
        self._write_status(self.known_status() | {"state": state, "time": time.time()} | details)

    def end(self, state: State, **details: Any) -> None:
        """The last word of a process: the status, with a checksum of every file."""
        files = {name: known[-1:] for name, known in _files(self.known_status()).items()}
        files |= {name: [found] for name in seal.SEALED if (found := seal.digest_of(self.path / name))}
        with suppress(Damaged, FileNotFoundError):  # before the first checkpoint there are none
            details["parameters"] = read_parameters(self.weights)
        self.set_status(state, files=files, **details)

    def _write_status(self, status: Row) -> None:
        seal.write_status(self.path / "status.json", status)

    def save_weights(self, which: str, content: bytes) -> None:
        self._write_listed(self.weights_file(which), content)

    def save_errors(self, rows: list[Row]) -> None:
        """What the analysis of a finished run's mistakes came to; it may be removed again."""
        self._write_listed(self.errors, json.dumps(rows, indent=2).encode())

    def _write_listed(self, path: Path, content: bytes) -> None:
        """Write a file, listed in the status first: a process may die between the two."""
        status = self.known_status()
        files = _files(status)
        listed = [*files.get(path.name, [""])[-1:], seal.digest(content)]
        self._write_status(status | {"files": files | {path.name: listed}})
        write_atomically(path, content)

    def linked_folders(self) -> list[Path]:
        """Folders of this run that are links to somewhere else, where nothing is to be written or removed."""
        return [folder for folder in (self.checkpoints, self.examples) if folder.is_symlink()]

    def remove_parts(self) -> None:
        """Remove what a killed process left half written, here and not where a link may lead."""
        inner = {self.checkpoints, self.examples} - set(self.linked_folders())
        found = [part for folder in (self.path, *inner) for part in folder.glob(".*.part")]
        if self.checkpoints in inner:
            tensors = self.checkpoints.glob("*.safetensors")
            found += [file for file in tensors if file.stem.isdecimal() and not file.with_suffix(".json").exists()]
        for part in found:
            part.unlink()

    def metrics_seal(self, lines: int | None = None) -> Row:
        """How many lines of metrics there are on disk (or the first `lines` of them), and their SHA-256."""
        return seal.of_lines(self.path / "metrics.jsonl", lines)

    def _log_start(self, step: int) -> None:
        append_line(self.path / "starts.jsonl", {"time": time.time(), "by": this_process(), "after_step": step})

    def log(self, metrics: Row) -> None:
        append_line(self.path / "metrics.jsonl", metrics)

    def log_speed(self, step: int, tokens_per_second: float, processor_seconds: float | None = None) -> None:
        """`processor_seconds` are those of the training steps since the last line."""
        spent = {} if processor_seconds is None else {"processor_seconds": round(processor_seconds, 4)}
        append_line(self.path / "speed.jsonl", {"step": step, "tokens_per_second": tokens_per_second} | spent)

    def save_evaluation(self, rows: list[Row]) -> None:
        write_json(self.path / "evaluation.json", rows)


def _remove(path: Path) -> None:
    """A file, a link or a whole folder, if there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _files(status: Row) -> dict[str, list[str]]:
    """The checksums in a status, as far as they are any."""
    files = status.get("files")
    listed = files.items() if isinstance(files, dict) else ()
    return {name: known for name, known in listed if isinstance(known, list)}
