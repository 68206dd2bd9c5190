"""Timing on a machine whose speed varies: contestants take turns, and medians are compared.

A contestant has a process of its own, with its own memory, start-up and compiled code, and moves when told to. It is
code of this program, or an earlier commit of it, unpacked aside.
"""

import io
import json
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

import lengthlab
from lengthlab.errors import UserError


@dataclass(frozen=True)
class Timing:
    """Seconds of one call: the median of the repeats, and the quartiles around it."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> "Timing":
        if len(seconds) == 1:
            return cls(seconds[0], seconds[0], seconds[0])
        low, median, high = statistics.quantiles(seconds, n=4, method="inclusive")
        return cls(median, low, high)


def take_turns(contestants: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, Timing]:
    """Call every contestant `repeats` times, in turns, after one call each to warm up."""
    for call in contestants.values():
        call()
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, call in contestants.items():
            started = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - started)
    return {name: Timing.of(values) for name, values in seconds.items()}


SCRIPT = Path(__file__).with_name("elsewhere.py")


def unpack(commit: str, folder: Path) -> Path:
    """The source tree of a commit, unpacked into a folder; returns where Python finds it."""
    root = Path(lengthlab.__file__).parents[2]
    done = subprocess.run(["git", "-C", str(root), "archive", commit, "src"], capture_output=True)
    if done.returncode:
        reason = done.stderr.decode().strip().splitlines()[-1:] or ["git does not know it"]
        raise UserError(f"--baseline: {commit!r} is not a commit of the source tree at {root} ({reason[0]})")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


class Baseline:
    """Training steps of the code in `source`, in a process of its own."""

    def __init__(self, source: Path, flops: float, **options: Any) -> None:
        self.flops = flops
        started = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(SCRIPT), json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(source)},
        )
        self.parameters = int(self._line())
        self.start_up_seconds = time.perf_counter() - started

    def __call__(self) -> float:
        assert self._process.stdin is not None
        print(file=self._process.stdin, flush=True)
        return float(self._line())

    def retire(self) -> int:
        assert self._process.stdin is not None
        self._process.stdin.close()
        with self._process:  # which closes its output and waits for its end
            return int(self._line())

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise UserError("--baseline: that commit cannot train this recipe (its message is above)")
        return line


@dataclass(frozen=True)
class Participant:
    """What takes part: a turn to call, the parameters it has, and the FLOPs of a turn's matrix products."""

    turn: Callable[[], object]
    parameters: int
    flops: float


class Contestant(Protocol):
    """Every call is one turn; it returns the seconds of processor time that the turn took."""

    parameters: int
    flops: float
    start_up_seconds: float

    def __call__(self) -> float: ...

    def retire(self) -> int:
        """End the process; returns the most memory it ever had, in bytes."""
        ...


class ChildContestant:
    """Calls `build(*arguments)` in a new process of this program."""

    def __init__(self, build: Callable[..., Participant], *arguments: object) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(other_end, build, arguments), daemon=True)
        started = time.perf_counter()
        self._process.start()
        other_end.close()  # so that a contestant that dies is noticed
        self.parameters, self.flops = self._answer()
        self.start_up_seconds = time.perf_counter() - started  # until it could begin, imports included

    def __call__(self) -> float:
        self._pipe.send(True)
        return self._answer()

    def retire(self) -> int:
        self._pipe.send(False)
        memory = self._answer()
        self._process.join()
        return memory

    def _answer(self) -> Any:
        answer = self._pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer


def _serve(pipe: Connection, build: Callable[..., Participant], arguments: tuple[object, ...]) -> None:
    try:
        entry = build(*arguments)
        pipe.send((entry.parameters, entry.flops))
        while pipe.recv():
            started = time.process_time()
            entry.turn()
            pipe.send(time.process_time() - started)
        pipe.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    except EOFError:  # nobody is listening any more
        return
    except Exception as error:
        pipe.send(error)
