"""A sweep: every trial is trained and tested once, however often the sweep is interrupted and restarted."""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, Self

from lengthlab.sweep.child import MISTAKE
from lengthlab.sweep.progress import TrialProgress
from lengthlab.sweep.trial import Ended, Outcome, SweepEngine, SweepOptions, Trial, make_engine

POLL_SECONDS = 0.25


class View(Protocol):
    """Shows all trials, again and again."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...
    def show(self, trials: Sequence[TrialProgress]) -> None: ...


def run_trials(trials: Sequence[Trial], options: SweepOptions, view: View) -> list[Outcome]:
    """Train and test all trials that are not finished yet; returns how each of them ended, in order.

    Trials with the same config are one run, trained once. A crash is tried again up to `options.retries` times, after
    the others; a mistake is not. Ctrl-C stops every trial after a checkpoint, and is raised again.
    """
    by_id = {trial.id: TrialProgress(trial) for trial in reversed(trials)}
    progress = [by_id[run] for run in dict.fromkeys(trial.id for trial in trials)]
    unfinished = [one for one in progress if not one.is_over]
    with view:
        _show(view, progress)
        if unfinished:
            try:
                with make_engine(options) as engine:
                    _run(engine, progress, unfinished, options.retries, view)
            except KeyboardInterrupt:
                finished = sum(one.state == "finished" for one in progress)
                raise KeyboardInterrupt(f"interrupted; {finished} of {len(progress)} runs are finished") from None
    return [replace(by_id[trial.id].outcome, trial=trial) for trial in trials]


def _run(
    engine: SweepEngine, progress: Sequence[TrialProgress], unfinished: list[TrialProgress], retries: int, view: View
) -> None:
    waiting = deque(unfinished)
    running: dict[str, TrialProgress] = {}
    while waiting or running:
        while waiting and (engine.slots is None or len(running) < engine.slots):
            one = waiting.popleft()
            one.attempts, one.error = one.attempts + 1, ""
            engine.start(one.trial)
            running[one.trial.id] = one
        for ended in engine.ended():
            one = running.pop(ended.trial.id)
            _settle(one, ended, retries)
            if not one.is_over:
                waiting.append(one)
        for one in running.values():
            one.look()
        _show(view, progress)
        if waiting or running:
            time.sleep(POLL_SECONDS)


def _show(view: View, progress: Sequence[TrialProgress]) -> None:
    view.show(progress)
    for one in progress:
        one.news.clear()


def _settle(one: TrialProgress, ended: Ended, retries: int) -> None:
    """Decide what becomes of a trial whose process has ended."""
    if ended.status == 0:
        one.end("finished")
    elif ended.status == MISTAKE or one.attempts > retries:
        one.end("failed", ended.error)
    else:
        one.end("waiting", ended.error)
