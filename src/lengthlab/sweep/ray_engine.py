"""Trials as tasks of Ray Core, on a cluster of one's own or a real one.

A task does nothing but start a child process and wait for it (see child.py), rather than train in Ray's worker: the
process that trains is then the same as without Ray, with its own signals, threads and memory, and nothing of one trial
stays in a worker for the next. A lost worker closes its child's standard input, the child stops, and Ray starts the
task again elsewhere; there it waits for the run's lock and resumes from the checkpoint.

A cluster of one's own listens on the loopback address alone and asks for a token that only its user can read; token,
logs and sockets are gone when the sweep ends. A real cluster (`--address`) must have lengthlab installed and the folder
of runs at the same path on all machines, on storage that they share. What the cluster asks for, such as a token, is
taken from the environment as Ray reads it.
"""

import contextlib
import logging
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from lengthlab.errors import RunFailed, UserError
from lengthlab.sweep.child import train_in_child
from lengthlab.sweep.trial import Ended, SweepOptions, Trial, cores

LOST_WORKERS = 3  # how often Ray starts a trial again because its worker or machine is gone
STOP_SECONDS = 60.0
CONNECT_SECONDS = 10.0
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS_SKIP_REGEX": "."}  # Ray writes of lost workers to our stdout
LOOPBACK = ("127.0.0.1", "::1")
STORE_BYTES = 80 * 2**20  # close to the least that Ray takes; results are a few words each


class RayEngine:
    """One task for each trial, with one core and the asked share of a GPU."""

    def __init__(self, options: SweepOptions) -> None:
        self.slots = options.workers or (None if options.address else cores())
        self._options = options
        self._tasks: dict[Any, Trial] = {}  # by Ray's reference to the result
        self._closing = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as opening:
            if self._options.address:
                opening.enter_context(_environment(**QUIET))
                self._ray = _connect(self._options.address, self._options.gpus)
            else:
                folder = Path(opening.enter_context(private_folder()))
                opening.enter_context(_environment(**own_cluster(folder)))
                self._ray = _start(folder, self.slots or 1, self._options.gpus)
            opening.callback(self._ray.shutdown)
            self._closing = opening.pop_all()
        self._task = self._ray.remote(train_in_child).options(
            num_cpus=1, num_gpus=self._options.gpus, max_retries=LOST_WORKERS
        )
        return self

    def __exit__(self, *exception: object) -> None:
        with self._closing:
            for task in self._tasks:
                self._ray.cancel(task)  # raises KeyboardInterrupt in its worker
            if self._tasks:
                self._ray.wait(list(self._tasks), num_returns=len(self._tasks), timeout=STOP_SECONDS)

    def start(self, trial: Trial) -> None:
        runs = trial.run.path.parent.absolute()  # a worker may have another current folder
        self._tasks[self._task.remote(trial.job, str(runs))] = trial

    def ended(self) -> list[Ended]:
        if not self._tasks:
            return []
        done, _ = self._ray.wait(list(self._tasks), num_returns=len(self._tasks), timeout=0)
        return [Ended(self._tasks.pop(task), *self._result(task)) for task in done]

    def _result(self, task: Any) -> tuple[int, str]:
        try:
            return self._ray.get(task)
        except self._ray.exceptions.RayError as error:  # lost more often than LOST_WORKERS, among others
            return 1, f"Ray: {type(error).__name__}: {' '.join(str(error).split())[:300]}"


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise UserError("--engine ray: Ray is not installed; pip install 'lengthlab[ray]'") from None
    return ray


def _start(folder: Path, cpus: int, gpus: float) -> Any:
    """A cluster on this machine for this sweep alone."""
    ray = _import_ray()
    ray.init(
        address="local",
        num_cpus=cpus,
        include_dashboard=False,
        object_store_memory=STORE_BYTES,
        log_to_driver=False,
        logging_level=logging.ERROR,
        _node_ip_address="127.0.0.1",
        _temp_dir=str(folder / "ray"),
    )
    found = ray.cluster_resources().get("GPU", 0)
    listens = ray.util.get_node_ip_address()
    if listens not in LOOPBACK:  # as when Ray was imported before its settings were made
        ray.shutdown()
        raise RunFailed(f"--engine ray: Ray listens on {listens} instead of the loopback address; use a new process")
    if found < gpus:
        ray.shutdown()
        raise UserError(f"--gpus {gpus:g}: Ray finds {found:g} GPUs on this machine")
    return ray


def _connect(address: str, gpus: float) -> Any:
    """An existing cluster."""
    if address != "auto":  # Ray finds it by itself, on this machine
        _check_reachable(address)
    ray = _import_ray()
    try:
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        raise UserError(f"--address {address}: cannot connect ({' '.join(str(error).split())[:300]})") from None
    if (found := ray.cluster_resources().get("GPU", 0)) < gpus:  # it may grow
        print(f"--gpus {gpus:g}: the cluster has {found:g} GPUs now; trials wait until it has more", file=sys.stderr)
    return ray


def _check_reachable(address: str) -> None:
    """Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdigit():
        raise UserError(f"--address {address}: HOST:PORT of a Ray cluster, or auto for one on this machine")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UserError(f"--address {address}: cannot connect ({error})") from None


def own_cluster(folder: Path) -> dict[str, str]:
    """Settings that Ray reads from the environment when it is imported."""
    token = folder / "token"
    token.touch(mode=0o600)
    token.write_text(secrets.token_hex(32))
    return {
        **QUIET,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": "",
        "RAY_AUTH_TOKEN_PATH": str(token),
        # The only way to keep Ray on the loopback address: on Linux it replaces _node_ip_address by a reachable one.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_ADDRESS": "",
        "RAY_worker_niceness": "0",  # trials are not less important than the rest of the machine
    }


def private_folder() -> tempfile.TemporaryDirectory[str]:
    """Not below $TMPDIR, which may be too long for the names of Ray's sockets.

    The name holds our process, so that what a killed one left is found and removed.
    """
    for left in Path("/tmp").glob("lab-*-*"):
        owner = left.name.split("-")[1]
        try:
            if owner.isdecimal() and left.stat().st_uid == os.getuid():
                os.kill(int(owner), 0)
        except ProcessLookupError:
            shutil.rmtree(left, ignore_errors=True)
        except (OSError, OverflowError):  # somebody else's, or no number of a process
            continue
    return tempfile.TemporaryDirectory(prefix=f"lab-{os.getpid()}-", dir="/tmp", ignore_cleanup_errors=True)


@contextlib.contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Environment variables for a while."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
