"""Stopping between two steps, and resuming: from the newest checkpoint that is whole and whose metrics are still there.

What a checkpoint holds (config, last weights, their average) is written anew when a run resumes. What it only counts or
knows by its checksum (metrics, the best weights) must be there: where it is not, the run does not resume silently.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from lengthlab.config.load import validate
from lengthlab.config.schema import Config
from lengthlab.errors import UserError
from lengthlab.runs import seal
from lengthlab.runs.files import Damaged
from lengthlab.runs.run import Run
from lengthlab.runs.seal import digest_of, trusted
from lengthlab.training.checkpoint import Checkpoint, load_newest, saved_steps, settings_in


def is_finished(run: Run) -> bool:
    """Whether a run is at its end. One with a damaged file resumes, and mends it, if it has a checkpoint."""
    can_resume = bool(saved_steps(run.checkpoints))
    damage = [] if trusted() else run.damage()
    status = run.known_status()
    if not status and not can_resume and run.weights.exists():  # somebody's trained weights, of which nothing is known
        raise Damaged(run.path / "status.json", "missing or damaged", cure="--fresh trains the run from the start")
    if status.get("state") == "finished" and damage and not can_resume:
        raise damage[0]
    return status.get("state") == "finished" and not damage


def find_checkpoint(run: Run, config: str) -> tuple[Checkpoint | None, list[str]]:
    """The checkpoint from which a run of the config with this id resumes, if any, and sentences about damage."""
    reasons: list[str] = []
    for folder in run.linked_folders():
        raise Damaged(folder, "a symbolic link", cure="put a folder there, or --fresh trains the run from the start")

    def check(checkpoint: Checkpoint) -> str:
        if trusted() or checkpoint.config != config:  # whose metrics it fits is not the question then
            return ""
        if reason := unfit(run, checkpoint):
            reasons.append(reason)
        return reason

    checkpoint, notes = load_newest(run.checkpoints, check)
    if checkpoint is None and reasons:
        raise UserError(f"{run.path}: {reasons[0]}; --fresh trains it from the start, --trust resumes as it is")
    reached, step = run.known_status().get("step", 0), checkpoint.step if checkpoint else 0
    if reached > step and not notes:
        notes.append(f"it had reached step {reached}; what follows step {step} is trained again")
    anew = "written anew as far as the checkpoint holds it" if checkpoint else "written anew"
    return checkpoint, [f"{damaged.path}: {damaged.reason}; {anew}" for damaged in run.damage()] + notes


def unfit(run: Run, checkpoint: Checkpoint) -> str:
    """Why a checkpoint does not fit the rest of its run; empty if it does."""
    if kept := checkpoint.beside.get("metrics"):
        try:
            found = run.metrics_seal(kept["lines"])
        except Damaged as error:
            return f"{error.path.name}: {error.reason}"
        if found["lines"] < kept["lines"]:
            return f"metrics.jsonl has {found['lines']} of the {kept['lines']} lines of step {checkpoint.step}"
        if found != kept:
            return f"metrics.jsonl has changed since step {checkpoint.step}"
    progress, best = checkpoint.values.get("progress", {}), run.weights_file("best")
    if progress.get("best_sha256"):
        reason = seal.MISSING if not best.exists() else seal.reason(best, run.known_status())
        return f"{best.name}, the weights after step {progress['best_step']}: {reason}" if reason else ""
    return ""


def require_best(run: Run, sha256: str) -> None:
    """Once training is over, the best weights must be those that were saved; `sha256` is empty if it was not kept."""
    file = run.weights_file("best")
    if sha256 and not trusted() and digest_of(file) != sha256:
        cure = "--fresh trains the run again, --trust uses it as it is"
        raise Damaged(file, "not the weights that were best", cure=cure)


def config_of(run: Run) -> Config:
    """The config of a run that is to be resumed: if config.yaml is damaged, that of its newest checkpoint."""
    try:
        return run.config
    except Damaged:
        settings = settings_in(run.checkpoints)
        if settings is None:
            raise
        return validate(settings)


SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Whether somebody has asked to stop."""

    def __init__(self) -> None:
        self.made = False

    def heed(self) -> None:
        """Raise KeyboardInterrupt if somebody has."""
        if self.made:
            raise KeyboardInterrupt

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.made:  # asked twice: stop at once
            raise KeyboardInterrupt
        self.made = True


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Within, Ctrl-C and SIGTERM only set `made`; a second one raises KeyboardInterrupt. In the main thread only."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    old = {number: signal.signal(number, request) for number in SIGNALS}
    try:
        yield request
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
