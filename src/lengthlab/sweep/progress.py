"""How far a run is, read from its folder: the same for a run of this process and for one of another."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from lengthlab.errors import UserError
from lengthlab.runs.files import parse_rows, plainly
from lengthlab.runs.reader import METRICS, SPEED
from lengthlab.runs.run import Run
from lengthlab.sweep.trial import Outcome, Trial

TrialState = Literal["waiting", "training", "testing", "finished", "failed"]


class Tail:
    """New lines of a JSON lines file; all of them again if the file was replaced, as a run that resumes does."""

    def __init__(self, path: Path, check: Callable[[Any], str]) -> None:
        """Lines in which `check` finds something wrong are left out."""
        self.path = path
        self._check = check
        self._file = 0
        self._read = 0

    def new_lines(self) -> list[dict[str, Any]]:
        try:
            with open(self.path, "rb", opener=plainly) as file:
                status = self.path.stat()
                if status.st_ino != self._file or status.st_size < self._read:
                    self._file, self._read = status.st_ino, 0
                file.seek(self._read)
                text = file.read()
        except OSError:
            return []
        whole = text[: text.rfind(b"\n") + 1]
        self._read += len(whole)
        return parse_rows(whole, self._check)[0]


@dataclass(eq=False)
class TrialProgress:
    """A trial in progress."""

    trial: Trial
    state: TrialState = "waiting"
    attempts: int = 0
    error: str = ""
    step: int = 0
    longest: int | None = None  # training length so far, where it grows
    loss: float | None = None
    accuracy: float | None = None  # of the next token
    speed: float | None = None  # tokens a second
    exact_match: dict[str, list[float]] = field(default_factory=dict)  # its course, by length
    news: list[dict[str, Any]] = field(default_factory=list)  # lines of metrics that nobody has been shown yet
    first_step: int = 0  # what was done before this sweep
    started: float | None = None  # seconds of time.monotonic(), when training was first seen
    ended: float | None = None

    def __post_init__(self) -> None:
        self.run = Run(self.trial.run.path.absolute())
        self._metrics = Tail(self.run.path / "metrics.jsonl", METRICS)
        self._speed = Tail(self.run.path / "speed.jsonl", SPEED)
        self._told: dict[str, int] = {}  # the last step of each kind of line in the news
        self._old_status = self._status()
        self._read_metrics()
        self.first_step = self.step
        if self._old_status.get("state") == "finished":
            self.state = "finished"

    @property
    def label(self) -> str:
        return self.trial.label

    @property
    def steps(self) -> int:
        return self.trial.config.training.steps

    @property
    def seconds(self) -> float | None:
        """Since training began in this sweep."""
        return None if self.started is None else (self.ended or time.monotonic()) - self.started

    @property
    def seconds_left(self) -> float | None:
        """Until the last step, at the speed of this sweep so far; None before its first step."""
        done = self.step - self.first_step
        return None if self.seconds is None or done <= 0 else self.seconds * max(0, self.steps - self.step) / done

    @property
    def is_over(self) -> bool:
        return self.state in ("finished", "failed")

    def look(self) -> None:
        """Read what is new in the run folder. A status that an earlier process left there does not count."""
        status = self._status()
        if status.get("state") == "running" and status != self._old_status:
            if self.started is None:
                self.started = time.monotonic()
                self.first_step = status.get("step", 0)
            self.state = "training"
        self._read_metrics()
        if self.state == "training" and self.step >= self.steps:
            self.state = "testing"

    def forget(self) -> None:
        """The run starts afresh: what an earlier process logged does not count."""
        self._told, self.exact_match, self.news = {}, {}, []
        self.step, self.loss, self.accuracy = 0, None, None

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
        for line in self._speed.new_lines():
            self.speed = line["tokens_per_second"]
        for line in self._metrics.new_lines():
            self.step = line["step"]
            self.longest = line.get("longest", self.longest)
            self.loss, self.accuracy = line.get("loss", self.loss), line.get("accuracy", self.accuracy)
            kind = "exact_match" if "exact_match" in line else "loss"
            if self.step > self._told.get(kind, 0):  # a run that resumes from a checkpoint repeats its lines
                self._told[kind] = self.step
                self.news.append(line)
                for digits, score in line.get("exact_match", {}).items():
                    self.exact_match.setdefault(digits, []).append(score)
