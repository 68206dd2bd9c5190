"""A process that trains one trial, seen from both ends: `Child` starts it, `main` is what it does.

Its standard input carries its job, one line of JSON, and then stays open as long as its parent lives. The system
closes it when the parent dies, however that happens, and the child stops after a checkpoint: a lost driver or Ray
worker leaves no orphan that trains on. A child that finds its run still held by another process waits, and then takes
over or finds it finished.

Ray's workers import this module too, so it imports nothing heavy before it trains.

Exit status 0: the run is finished; 2: the config or a path is wrong, trying again is no use; 1, 130 or a signal: it was
cut short.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from lengthlab.errors import RunBusy, RunFailed, UserError

MISTAKE = 2
INTERRUPTED = 130
POLL_SECONDS = 0.2


class Child:
    """A process that trains one config with one thread."""

    def __init__(self, job: dict[str, Any], runs: Path) -> None:
        """`job` is a trial's; `runs` is the folder of all runs."""
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "lengthlab.sweep.child"],
            env=os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "LENGTHLAB_RUNS": str(runs)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._said,
            start_new_session=True,  # a Ctrl-C in the terminal is for the sweep, which then stops its children
        )
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # if it is dead already, its exit status says so
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
            self._process.stdin.flush()

    def poll(self) -> int | None:
        """The exit status, or None as long as it runs."""
        return self._process.poll()

    def ask_to_stop(self) -> None:
        """Between two steps, with a checkpoint. By SIGTERM: Ray blocks SIGINT in its workers and what they start."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)

    def close(self) -> tuple[int, str]:
        """Wait for its end; returns its exit status and why it did not finish, in its own last words if it had any."""
        while (status := self.poll()) is None:  # in short sleeps, in which a Ray worker can be told to stop
            time.sleep(POLL_SECONDS)
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        with self._said:
            self._said.seek(0)
            lines = self._said.read().decode(errors="replace").strip().splitlines()
        if status < 0:
            return status, f"killed by {signal.Signals(-status).name}"
        return status, (lines[-1] if lines else "ended without a message") if status else ""


def train_in_child(job: dict[str, Any], runs: str) -> tuple[int, str]:
    """A task of Ray: train in a child process; returns its exit status and why it did not finish."""
    # Without this handler Ray cannot cancel a task: a cluster that was started in the background ignores SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    child = Child(job, Path(runs))
    try:
        return child.close()
    except BaseException:
        child.ask_to_stop()
        child.close()
        raise


def main() -> int:
    """Do the job that standard input carries; returns the exit status."""
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_stop_without_parent, daemon=True).start()
    try:
        train_job(job)
    except KeyboardInterrupt:
        return _complain("interrupted", INTERRUPTED)
    except RunFailed as error:
        return _complain(error, 1)
    except UserError as error:
        return _complain(error, MISTAKE)
    except OSError as error:  # before training: from within it is a RunFailed
        return _complain(f"{error.filename or 'file'}: {error.strerror or error}", MISTAKE)
    return 0


def _stop_without_parent() -> None:
    """The parent never writes a second line, so this returns when it is gone."""
    os.read(sys.stdin.fileno(), 1)
    os.kill(os.getpid(), signal.SIGTERM)


def train_job(job: dict[str, Any]) -> None:
    import torch

    from lengthlab.config.checks import check
    from lengthlab.config.schema import Config
    from lengthlab.runs.run import Run
    from lengthlab.training.loop import Trainer, Watcher

    torch.set_num_threads(1)
    config = Config.model_validate(job["config"])
    check(config)
    trainer = Trainer(config, Run.of(config), Watcher(), recipe=job["recipe"])
    while True:
        try:
            return trainer.train()
        except RunBusy:
            time.sleep(POLL_SECONDS)


def _complain(message: object, status: int) -> int:
    print(" ".join(str(message).split()), file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
