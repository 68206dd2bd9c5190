"""One process at a time trains a run."""

import fcntl
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lengthlab.errors import RunBusy
from lengthlab.runs.files import plainly


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes from training the run in a folder. The system lets go of the lock when its holder dies."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "a+", encoding="utf-8", errors="replace", opener=plainly) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read(200).strip() or "another process"
            raise RunBusy(f"run {folder.name} is being trained by {holder}; wait for it or stop it") from None
        file.truncate(0)
        file.write(f"{this_process()}\n")
        file.flush()
        yield


def is_held(folder: Path) -> bool:
    """Whether some process is training the run in a folder."""
    try:
        with open(folder / "lock", "rb", opener=plainly) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # there is none, or it cannot be read
        return (folder / "lock").exists()
    return False


def state_now(folder: Path, state: str) -> str:
    """The state of a run; one that says running while no process trains it was stopped."""
    return "stopped" if state == "running" and not is_held(folder) else state


def this_process() -> str:
    return f"process {os.getpid()} on {platform.node()}"
