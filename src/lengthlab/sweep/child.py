"""Processes that train one trial each, seen from both ends: a `Nursery` starts them, `main` is what they do.

A nursery is a process that imports torch once and forks a child for each trial: an import takes seconds, a fork
milliseconds. It has no other threads, without which a fork would not be safe, and what a child does is not in its
memory: nothing of one trial stays for the next.

A child's standard input is one end of a socket. It carries the job, one line of JSON, and then stays open as long as
the other end is: the system closes it when the process that wants the trial dies, however that happens, and the child
stops after a checkpoint. A lost driver or Ray worker leaves no orphan that trains on, and no nursery, which ends with
its own standard input. A child that finds its run still held by another process waits, and then takes over or finds it
finished.

Ray's workers import this module too, so it imports nothing heavy before it trains.

Exit status 0: the run is finished; 2: the config or a path is wrong, trying again is no use; 1, 130 or a signal: it was
cut short.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import IO, Any

from lengthlab.errors import RunBusy, RunFailed, UserError

MISTAKE = 2
INTERRUPTED = 130
POLL_SECONDS = 0.2


class Nursery:
    """Starts children, each of which trains one config with one thread."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None  # which forks them; None before the first
        self._requests: socket.socket | None = None

    def start(self, job: dict[str, Any], runs: Path) -> "Child":
        """`job` is a trial's; `runs` is the folder of all runs."""
        requests = self._open()
        ours, theirs = socket.socketpair()
        said = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the child)
        with theirs, contextlib.suppress(ConnectionError):  # if nobody is there, the child has ended
            socket.send_fds(requests, [b"."], [theirs.fileno(), said.fileno()])
            ours.sendall(json.dumps(job | {"runs": str(runs)}).encode() + b"\n")
        return Child(ours, said)

    def _open(self) -> socket.socket:
        """Where to ask for a child; of a new process if there is none, or if something killed it."""
        if self.process and self.process.poll() is not None:
            self.close()
        if self._requests is None:
            self._requests, theirs = socket.socketpair()
            with theirs:
                self.process = subprocess.Popen(
                    [sys.executable, "-m", "lengthlab.sweep.child"],
                    env=os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,  # a Ctrl-C in the terminal is for the sweep, which then stops its children
                )
        return self._requests

    def close(self) -> None:
        """End the process; children that it has started are not touched."""
        if self.process and self._requests:
            self._requests.close()
            self.process.wait()
        self.process = self._requests = None


class Child:
    """A process that trains, as seen by the one that asked for it."""

    def __init__(self, channel: socket.socket, said: IO[bytes]) -> None:
        """`channel` is the other end of its standard input, `said` the file of its standard error."""
        self._channel = channel
        self._said = said
        self._status: int | None = None

    def poll(self) -> int | None:
        """The exit status, or None as long as it runs."""
        if self._status is None:
            try:
                told = self._channel.recv(16, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return None
            except ConnectionError:
                told = b""
            self._status = int(told or 1)  # the nursery was killed before it could tell
        return self._status

    def ask_to_stop(self) -> None:
        """Between two steps, with a checkpoint."""
        with contextlib.suppress(OSError):  # it has ended
            self._channel.shutdown(socket.SHUT_WR)

    def close(self) -> tuple[int, str]:
        """Wait for its end; returns its exit status and why it did not finish, in its own last words if it had any."""
        while (status := self.poll()) is None:  # in short sleeps, in which a Ray worker can be told to stop
            time.sleep(POLL_SECONDS)
        self._channel.close()
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
    nursery = Nursery()  # for this task alone: the next may be given another GPU, by the environment
    child = nursery.start(job, Path(runs))
    try:
        return child.close()
    except BaseException:
        child.ask_to_stop()
        child.close()
        raise
    finally:
        nursery.close()


def fork_for_each_request() -> None:
    """The work of a nursery. Returns in every child and nowhere else; it ends when nobody asks any more."""
    requests = socket.socket(fileno=sys.stdin.fileno())
    children: dict[int, int] = {}  # the end of its channel by the number of the process
    while True:
        if select.select([requests], [], [], POLL_SECONDS if children else None)[0]:
            request, ends, _, _ = socket.recv_fds(requests, 1, 2)
            if not request:
                os._exit(0)
            channel, said = ends
            os.dup2(said, sys.stderr.fileno())  # what an import has to say is for the first child
            os.close(said)
            import lengthlab.training.loop  # noqa: F401

            if not (child := os.fork()):
                os.setsid()
                requests.detach()
                os.dup2(channel, sys.stdin.fileno())
                os.close(channel)
                return
            children[child] = channel
        for child in [*children]:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                with socket.socket(fileno=children.pop(child)) as channel, contextlib.suppress(ConnectionError):
                    channel.sendall(str(os.waitstatus_to_exitcode(status)).encode())


def main() -> int:
    """Do the job that standard input carries; returns the exit status."""
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_stop_without_parent, daemon=True).start()
    os.environ["LENGTHLAB_RUNS"] = job["runs"]
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
    except BaseException as error:
        from lengthlab.config.plugins import mistake_in

        if mistake := mistake_in(error):
            return _complain(mistake, MISTAKE)
        traceback.print_exc()
        return 1
    return 0


def _stop_without_parent() -> None:
    """There is never a second line, so this returns when nobody wants the trial any more.

    By SIGTERM: Ray blocks SIGINT in its workers and what they start.
    """
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
    fork_for_each_request()
    os._exit(main())  # without tidying up, which takes longer than a short run where torch was imported
