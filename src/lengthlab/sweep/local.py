"""Trials as child processes of this one."""

import os
from typing import Self

from lengthlab.sweep.child import Child
from lengthlab.sweep.engine import Ended
from lengthlab.sweep.trial import SweepOptions, Trial


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalEngine:
    """A pool of processes, one thread each: faster in all than one process with all threads."""

    def __init__(self, options: SweepOptions) -> None:
        self.slots = options.workers or cores()
        self._children: dict[str, tuple[Trial, Child]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for _, child in self._children.values():
            child.ask_to_stop()
        for _, child in self._children.values():
            child.close()

    def start(self, trial: Trial) -> None:
        self._children[trial.id] = trial, Child(trial.config.model_dump(mode="json"), trial.run.path.parent)

    def ended(self) -> list[Ended]:
        done = [(trial, child) for trial, child in self._children.values() if child.poll() is not None]
        for trial, _ in done:
            del self._children[trial.id]
        return [Ended(trial, *child.close()) for trial, child in done]
