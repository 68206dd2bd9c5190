"""Checkpoints: all that a run needs to go on, in files that load without running code.

    checkpoints/00000400.safetensors   weights and the optimizers' tensors
    checkpoints/00000400.json          the step, the id of the config, what is no tensor, and a SHA-256 over all of it

The JSON is written last, so a checkpoint is whole if its JSON is there and the checksum fits. Data, schedule and
dropout depend on nothing but the seeds and the step (`seeding.py`): there is no generator to save.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load, save
from torch import Tensor, nn
from torch.optim import Optimizer

from lengthlab.files import write_atomically, write_json


class Damaged(Exception):
    """A checkpoint that is not what was written; the message names the file and the reason."""


@dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint holds."""

    step: int
    config: str  # the id of the config that it belongs to
    tensors: dict[str, Tensor]
    values: dict[str, Any]


def save_checkpoint(folder: Path, step: int, config: str, state: dict[str, Any], keep: int) -> None:
    """Write the state after `step` steps of the config with this id, then remove all but the newest `keep`."""
    folder.mkdir(exist_ok=True)
    content = save({name: value for name, value in state.items() if isinstance(value, Tensor)})
    values = {name: value for name, value in state.items() if not isinstance(value, Tensor)}
    tensors_file, values_file = _files(folder, step)
    write_atomically(tensors_file, content)
    described = {"step": step, "config": config, "values": values}
    write_json(values_file, described | {"sha256": _checksum(content, described)})
    for old in saved_steps(folder)[:-keep]:
        for file in reversed(_files(folder, old)):  # the JSON first: without it the rest counts for nothing
            file.unlink(missing_ok=True)


def saved_steps(folder: Path) -> list[int]:
    """The steps of the checkpoints in a folder, oldest first."""
    return sorted(int(file.stem) for file in folder.glob("[0-9]*.json") if file.stem.isdigit())


def load_newest(folder: Path) -> tuple[Checkpoint | None, list[str]]:
    """The newest checkpoint that is whole, if there is one, and a sentence about each that is not."""
    notes = []
    older = saved_steps(folder)
    while older:
        try:
            return load_checkpoint(folder, older.pop()), notes
        except Damaged as error:
            notes.append(f"{error}; {'going back to the one before' if older else 'none is left: starting again'}")
    return None, notes


def load_checkpoint(folder: Path, step: int) -> Checkpoint:
    """One checkpoint, checked against its checksum."""
    tensors_file, values_file = _files(folder, step)
    try:
        described = json.loads(values_file.read_text(encoding="utf-8"))
        expected, config, values = described.pop("sha256"), described["config"], described["values"]
        content = tensors_file.read_bytes()
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Damaged(f"checkpoint {values_file} cannot be read ({type(error).__name__})") from None
    if described.get("step") != step or _checksum(content, described) != expected:
        raise Damaged(f"checkpoint {tensors_file} or {values_file.name} is damaged (the checksum does not fit)")
    return Checkpoint(step, config, load(content), values)


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
