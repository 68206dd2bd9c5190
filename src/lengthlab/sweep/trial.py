"""What a sweep is made of: trials, how to run them, and what became of them."""

from dataclasses import dataclass
from typing import Literal

from lengthlab.config import Config
from lengthlab.errors import UserError
from lengthlab.runs import Run

EngineName = Literal["local", "ray"]


@dataclass(frozen=True)
class Trial:
    """One config to train, and what to call it. Its run folder is `runs/<id>/`."""

    label: str
    config: Config

    @property
    def id(self) -> str:
        return self.config.id

    @property
    def run(self) -> Run:
        return Run.of(self.config)


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
        if self.gpus < 0 or (self.gpus > 1 and not float(self.gpus).is_integer()):
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
