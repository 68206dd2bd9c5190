"""What a sweep is made of: trials, the engine that trains them in child processes, and their outcomes."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from lengthlab.errors import UserError
from lengthlab.sweep.child import Child, Nursery

if TYPE_CHECKING:
    from lengthlab.config.schema import Config
    from lengthlab.runs.run import Run

EngineName = Literal["local", "ray"]


@dataclass(frozen=True)
class Trial:
    """One config to train, and what to call it. Its run folder is `runs/<id>/` unless another is given."""

    label: str
    config: "Config"
    recipe: str = ""  # the name of the recipe that the config comes from
    folder: Path | None = None

    @property
    def job(self) -> dict[str, Any]:
        """What a process that trains it is given, as plain data."""
        return {"config": self.config.model_dump(mode="json"), "recipe": self.recipe}

    @cached_property
    def id(self) -> str:
        """A hash of all settings; asked for four times a second, of every trial."""
        return self.config.id

    @property
    def run(self) -> "Run":
        from lengthlab.runs.run import Run

        return Run(self.folder) if self.folder else Run.of(self.config)


@dataclass(frozen=True)
class SweepOptions:
    """How trials are run."""

    engine: EngineName = "local"
    workers: int | None = None  # trials at a time; None: as many as there are cores, or as a real cluster has room for
    address: str | None = None  # of a Ray cluster; None: one on this machine, for this sweep alone
    gpus: float = 0.0  # for each trial; a fraction lets several trials share a GPU
    retries: int = 1  # after a crash; a mistake in the config is not tried again

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise UserError("--workers: at least 1")
        if self.retries < 0:
            raise UserError("--retries: at least 0")
        if not self.gpus >= 0 or (self.gpus > 1 and not float(self.gpus).is_integer()):
            raise UserError("--gpus: a fraction up to 1, or a whole number")
        if self.engine == "local" and (self.address or self.gpus):
            raise UserError(f"{'--address' if self.address else '--gpus'}: only with --engine ray")


@dataclass(frozen=True)
class Outcome:
    """How a trial ended. `attempts` counts those of this sweep: 0 if its run was finished before."""

    trial: Trial
    state: Literal["finished", "failed"]
    error: str = ""
    attempts: int = 0


@dataclass(frozen=True)
class Ended:
    """A trial's process has ended, with an exit status of `child.py` or the number of a signal below zero."""

    trial: Trial
    status: int
    error: str


class SweepEngine(Protocol):
    """Trains trials somewhere. Leaving it stops those that are not done; they keep what they have done so far."""

    @property
    def slots(self) -> int | None:
        """How many trials may be started at a time; None if the engine queues them itself."""
        ...

    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...
    def start(self, trial: Trial) -> None: ...
    def ended(self) -> list[Ended]:
        """Trials that have ended since the last time, without waiting."""
        ...


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalEngine:
    """A pool of forked processes, one thread each: faster overall than one process with all threads."""

    def __init__(self, options: SweepOptions) -> None:
        self.slots = options.workers or cores()
        self._nursery = Nursery()
        self._children: dict[str, tuple[Trial, Child]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for _, child in self._children.values():
            child.ask_to_stop()
        for _, child in self._children.values():
            child.close()
        self._nursery.close()

    def start(self, trial: Trial) -> None:
        self._children[trial.id] = trial, self._nursery.start(trial.job, trial.run.path.parent)

    def ended(self) -> list[Ended]:
        done = [(trial, child) for trial, child in self._children.values() if child.poll() is not None]
        for trial, _ in done:
            del self._children[trial.id]
        return [Ended(trial, *child.close()) for trial, child in done]


def make_engine(options: SweepOptions) -> SweepEngine:
    """The engine by its name."""
    if options.engine == "ray":
        from lengthlab.sweep.ray_engine import RayEngine

        return RayEngine(options)
    return LocalEngine(options)
