"""What a sweep asks of an engine."""

from dataclasses import dataclass
from typing import Protocol, Self

from lengthlab.sweep.trial import SweepOptions, Trial


@dataclass(frozen=True)
class Ended:
    """A trial's process has ended, with an exit status of `child.py` or the number of a signal below zero."""

    trial: Trial
    status: int
    error: str


class Engine(Protocol):
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


def make_engine(options: SweepOptions) -> Engine:
    """The engine by its name."""
    if options.engine == "ray":
        from lengthlab.sweep.ray_engine import RayEngine

        return RayEngine(options)
    from lengthlab.sweep.local import LocalEngine

    return LocalEngine(options)
