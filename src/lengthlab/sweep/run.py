"""A sweep: every trial is trained and tested once, however often the sweep is cut short and started again."""

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console

from lengthlab.sweep.child import MISTAKE
from lengthlab.sweep.engine import Ended, Engine, make_engine
from lengthlab.sweep.progress import Progress
from lengthlab.sweep.table import View, make_view
from lengthlab.sweep.trial import Outcome, SweepOptions, Trial

POLL_SECONDS = 0.25


def run_trials(
    trials: Sequence[Trial], options: SweepOptions, console: Console, view: View | None = None
) -> list[Outcome]:
    """Train and test all trials that are not finished yet; returns how each of them ended, in their order.

    Trials with the same config are one run, trained once. A crash is tried again up to `options.retries` times, after
    the others; a mistake is not. Ctrl-C stops every trial after a checkpoint, and is raised again. `view` shows the
    progress; None: a live table, or plain lines where there is no terminal.
    """
    by_id = {trial.id: Progress(trial) for trial in reversed(trials)}
    progress = [by_id[run] for run in dict.fromkeys(trial.id for trial in trials)]
    unfinished = [one for one in progress if not one.is_over]
    with view or make_view(console) as shown:
        _show(shown, progress)
        if unfinished:
            try:
                with make_engine(options) as engine:
                    _run(engine, progress, unfinished, options.retries, shown)
            except KeyboardInterrupt:
                finished = sum(one.state == "finished" for one in progress)
                shown.say(f"Stopped; {finished} of {len(progress)} trials are finished. The same command goes on.")
                raise
    return [replace(by_id[trial.id].outcome, trial=trial) for trial in trials]


def _run(engine: Engine, progress: Sequence[Progress], unfinished: list[Progress], retries: int, view: View) -> None:
    waiting = deque(unfinished)
    running: dict[str, Progress] = {}
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


def _show(view: View, progress: Sequence[Progress]) -> None:
    view.show(progress)
    for one in progress:
        one.news.clear()


def _settle(one: Progress, ended: Ended, retries: int) -> None:
    """Decide what becomes of a trial whose process has ended."""
    if ended.status == 0:
        one.end("finished")
    elif ended.status == MISTAKE or one.attempts > retries:
        one.end("failed", ended.error)
    else:
        one.end("waiting", ended.error)
