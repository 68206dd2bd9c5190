"""Checkpoints: all that a run needs to go on, in files that load without running code.

    checkpoints/00000400.safetensors   weights and the optimizers' tensors
    checkpoints/00000400.json          the step, the config and its id, what is no tensor, how many lines of metrics
                                       belong to it, and a SHA-256 over all of it

The JSON is written last, so a checkpoint is whole if its JSON is there and the checksum fits. Data, schedule and
dropout depend on nothing but the seeds and the step (`seeding.py`): there is no generator to save.
"""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn
from torch.optim import Optimizer

from lengthlab.runs.files import LARGEST, Damaged, read_bytes, read_json, write_atomically, write_json
from lengthlab.runs.seal import MISSING


@dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint holds."""

    step: int
    config: str  # the id of the config that it belongs to
    tensors: dict[str, Tensor]
    values: dict[str, Any]
    beside: dict[str, Any] = field(default_factory=dict)  # `settings`, the config, and `metrics`, their seal, if kept


def save_checkpoint(
    folder: Path, step: int, config: str, state: dict[str, Any], keep: int, beside: dict[str, Any] | None = None
) -> None:
    """Write the state after `step` steps of the config with this id, then remove all but the newest `keep`."""
    folder.mkdir(exist_ok=True)
    content = save({name: value for name, value in state.items() if isinstance(value, Tensor)})
    values = {name: value for name, value in state.items() if not isinstance(value, Tensor)}
    tensors_file, values_file = _files(folder, step)
    write_atomically(tensors_file, content)
    described = {"step": step, "config": config, "values": values, **(beside or {})}
    write_json(values_file, described | {"sha256": _checksum(content, described)})
    for old in saved_steps(folder)[:-keep]:
        for file in reversed(_files(folder, old)):  # the JSON first: without it the rest counts for nothing
            file.unlink(missing_ok=True)


def saved_steps(folder: Path) -> list[int]:
    """The steps of the checkpoints in a folder, oldest first."""
    return sorted(int(file.stem) for file in folder.glob("*.json") if re.fullmatch("[0-9]{8,18}", file.stem))


def load_newest(
    folder: Path, unfit: Callable[[Checkpoint], str] = lambda checkpoint: ""
) -> tuple[Checkpoint | None, list[str]]:
    """The newest checkpoint that is whole, if there is one, and a sentence about each that is not.

    `unfit` says why one that is whole cannot be used all the same, or nothing.
    """
    notes = []
    older = saved_steps(folder)
    while older:
        step = older.pop()
        try:
            checkpoint = load_checkpoint(folder, step)
            if reason := unfit(checkpoint):
                raise Damaged(_files(folder, step)[1], reason)
            return checkpoint, notes
        except Damaged as error:
            instead = "going back to the one before" if older else "none is left: starting again"
            notes.append(f"checkpoint {error.path}: {error.reason}; {instead}")
    return None, notes


def load_checkpoint(folder: Path, step: int) -> Checkpoint:
    """One checkpoint, checked against its checksum."""
    tensors_file, values_file = _files(folder, step)
    described, expected = read_description(values_file)
    unsound = Damaged(tensors_file, f"it or {values_file.name} does not fit the checksum")
    try:
        content = read_bytes(tensors_file, LARGEST)
        if described.get("step") != step or _checksum(content, described) != expected:
            raise unsound
        tensors = load(content)
    except FileNotFoundError:
        raise Damaged(tensors_file, MISSING) from None
    except SafetensorError:
        raise unsound from None
    beside = {name: value for name, value in described.items() if name not in ("step", "config", "values")}
    return Checkpoint(step, described["config"], tensors, described["values"], beside)


def read_description(path: Path) -> tuple[dict[str, Any], str]:
    """What a checkpoint's JSON says, and the checksum in it."""
    try:
        described = read_json(path)
        expected = described.pop("sha256")
        if not isinstance(described["values"], dict) or not isinstance(described["config"], str):
            raise TypeError
    except FileNotFoundError:
        raise Damaged(path, MISSING) from None
    except (KeyError, TypeError, AttributeError):
        raise Damaged(path, "no checkpoint") from None
    return described, expected


def settings_in(folder: Path) -> dict[str, Any] | None:
    """The config that the newest whole checkpoint of a run belongs to, as plain data; None if that was not kept."""
    checkpoint, _ = load_newest(folder)
    settings = checkpoint.beside.get("settings") if checkpoint else None
    return settings if isinstance(settings, dict) else None


def _checksum(content: bytes, described: dict[str, Any]) -> str:
    return hashlib.sha256(content + json.dumps(described, sort_keys=True).encode()).hexdigest()


def _files(folder: Path, step: int) -> tuple[Path, Path]:
    return folder / f"{step:08d}.safetensors", folder / f"{step:08d}.json"


def state_of(model: nn.Module, optimizers: list[Optimizer]) -> dict[str, Any]:
    """Weights and optimizer state under flat names: `model/NAME`, `optimizer/N/PARAMETER/KEY`."""
    state: dict[str, Any] = {f"model/{name}": p.detach() for name, p in model.named_parameters()}
    for number, optimizer in enumerate(optimizers):
        for parameter, values in optimizer.state_dict()["state"].items():
            state |= {f"optimizer/{number}/{parameter}/{key}": value for key, value in values.items()}
    return {name: value.contiguous() if isinstance(value, Tensor) else value for name, value in state.items()}


@torch.no_grad()
def restore(checkpoint: Checkpoint, model: nn.Module, optimizers: list[Optimizer]) -> None:
    """Put weights and optimizer state back where `state_of` found them."""
    for name, parameter in model.named_parameters():
        parameter.copy_(checkpoint.tensors[f"model/{name}"])
    for number, optimizer in enumerate(optimizers):
        state: dict[int, dict[str, Any]] = {}
        for name, value in (checkpoint.tensors | checkpoint.values).items():
            kind, *path = name.split("/")
            if kind == "optimizer" and int(path[0]) == number:
                state.setdefault(int(path[1]), {})[path[2]] = value
        optimizer.load_state_dict(optimizer.state_dict() | {"state": state})
