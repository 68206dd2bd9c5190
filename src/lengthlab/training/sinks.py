"""Where metrics go besides the run folder, if asked for: TensorBoard and Weights & Biases (offline)."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from lengthlab.config import Config
from lengthlab.errors import UserError
from lengthlab.runs import Run

Sink = Callable[[dict[str, Any]], None]


def scalars(line: dict[str, Any]) -> dict[str, float]:
    """A line of metrics as flat names: {"exact_match": {"10": 0.9}} becomes {"exact_match/10": 0.9}."""
    flat: dict[str, float] = {}
    for name, value in line.items():
        if isinstance(value, dict):
            flat |= {f"{name}/{key}": part for key, part in value.items()}
        elif name != "step":
            flat[name] = value
    return flat


@contextmanager
def sinks(run: Run, config: Config, tensorboard: bool, wandb: bool) -> Iterator[list[Sink]]:
    """The sinks asked for, closed at the end."""
    with ExitStack() as stack:
        chosen = []
        if tensorboard:
            chosen.append(stack.enter_context(_tensorboard(run.path / "tensorboard")))
        if wandb:
            chosen.append(stack.enter_context(_wandb(run, config)))
        yield chosen


@contextmanager
def _tensorboard(folder: Path) -> Iterator[Sink]:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise UserError("--tensorboard: not installed; pip install -e '.[tensorboard]'") from None
    writer: Any = None

    def write(line: dict[str, Any]) -> None:
        nonlocal writer
        if writer is None:  # not before the run folder is made; what an earlier process wrote of later steps is void
            writer = SummaryWriter(str(folder), purge_step=line["step"])
        for name, value in scalars(line).items():
            writer.add_scalar(name, value, line["step"])

    try:
        yield write
    finally:
        if writer:
            writer.close()


@contextmanager
def _wandb(run: Run, config: Config) -> Iterator[Sink]:
    try:
        wandb: Any = import_module("wandb")
    except ImportError:
        raise UserError("--wandb: not installed; pip install -e '.[wandb]'") from None
    session: Any = None

    def write(line: dict[str, Any]) -> None:
        nonlocal session
        settings = wandb.Settings(mode="offline", silent=True)
        session = session or wandb.init(
            project="lengthlab", id=run.id, dir=str(run.path), config=config.model_dump(mode="json"), settings=settings
        )
        session.log(scalars(line), step=line["step"])

    try:
        yield write
    finally:
        if session:
            session.finish()
