"""How far a trial is, read from its run folder."""

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lengthlab.errors import UserError
from lengthlab.runs import Run
from lengthlab.sweep.trial import Outcome, Trial

TrialState = Literal["waiting", "training", "testing", "finished", "failed"]


class Tail:
    """New lines of a JSON lines file; all of them again if the file was replaced, as a run that goes on does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = 0
        self._read = 0

    def new_lines(self) -> list[dict[str, Any]]:
        try:
            with open(self.path, "rb") as file:
                status = self.path.stat()
                if status.st_ino != self._file or status.st_size < self._read:
                    self._file, self._read = status.st_ino, 0
                file.seek(self._read)
                text = file.read()
        except OSError:
            return []
        whole = text[: text.rfind(b"\n") + 1]
        self._read += len(whole)
        return [json.loads(line) for line in whole.splitlines()]


@dataclass(eq=False)
class Progress:
    """A trial on its way."""

    trial: Trial
    state: TrialState = "waiting"
    attempts: int = 0
    error: str = ""
    step: int = 0
    loss: float | None = None
    exact_match: dict[str, float] = field(default_factory=dict)
    news: list[dict[str, Any]] = field(default_factory=list)  # lines of metrics that nobody has been shown yet
    first_step: int = 0  # what was done before this sweep
    started: float | None = None  # seconds of time.monotonic(), when training was first seen
    ended: float | None = None

    def __post_init__(self) -> None:
        self.run = Run(self.trial.run.path.absolute())
        self._tail = Tail(self.run.path / "metrics.jsonl")
        self._told: dict[str, int] = {}  # the last step of each kind of line in the news
        self._old_status = self._status()
        self._read_metrics()
        self.first_step = self.step
        if self._old_status.get("state") == "finished":
            self.state = "finished"

    @property
    def steps(self) -> int:
        return self.trial.config.training.steps

    @property
    def seconds(self) -> float | None:
        """Since training began in this sweep."""
        return None if self.started is None else (self.ended or time.monotonic()) - self.started

    @property
    def is_over(self) -> bool:
        return self.state in ("finished", "failed")

    def look(self) -> None:
        """Read what is new in the run folder. A status that an earlier process left there does not count."""
        status = self._status()
        if status.get("state") == "running" and status != self._old_status:
            self.started = self.started or time.monotonic()
            self.state = "training"
        self._read_metrics()
        if self.state == "training" and self.step >= self.steps:
            self.state = "testing"

    def end(self, state: Literal["waiting", "finished", "failed"], error: str = "") -> None:
        """Its process has ended; it waits for another attempt, or it is over."""
        self.look()
        self._old_status = self._status()
        self.state, self.error = state, error
        self.ended = time.monotonic() if self.is_over else None

    @property
    def outcome(self) -> Outcome:
        return Outcome(self.trial, "finished" if self.state == "finished" else "failed", self.error, self.attempts)

    def _status(self) -> dict[str, Any]:
        try:
            return self.run.status
        except (UserError, OSError):  # the process that trains the run will say so
            return {}

    def _read_metrics(self) -> None:
        for line in self._tail.new_lines():
            self.step = line["step"]
            self.loss = line.get("loss", self.loss)
            self.exact_match = line.get("exact_match", self.exact_match)
            kind = "exact_match" if "exact_match" in line else "loss"
            if self.step > self._told.get(kind, 0):  # a run that goes on from a checkpoint repeats its lines
                self._told[kind] = self.step
                self.news.append(line)
