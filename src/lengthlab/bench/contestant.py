"""A contestant in a process of its own, with its own memory, start-up and compiled code; it moves when told to."""

import multiprocessing
import resource
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

# Makes a contestant: what it does in each turn, and how many parameters it has.
Build = Callable[..., tuple[Callable[[], object], int]]


class Contestant:
    """Calls `build(*arguments)` in a new process; every call of the object is one turn there."""

    def __init__(self, build: Build, *arguments: object) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(other_end, build, arguments), daemon=True)
        started = time.perf_counter()
        self._process.start()
        other_end.close()  # so that a contestant that dies is noticed
        self.parameters: int = self._answer()
        self.start_up_seconds = time.perf_counter() - started  # until it could begin, imports included

    def __call__(self) -> None:
        self._pipe.send(True)
        self._answer()

    def retire(self) -> int:
        """End the process; returns the most memory it ever had, in bytes."""
        self._pipe.send(False)
        memory = self._answer()
        self._process.join()
        return memory

    def _answer(self) -> Any:
        answer = self._pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer


def _serve(pipe: Connection, build: Build, arguments: tuple[object, ...]) -> None:
    try:
        turn, parameters = build(*arguments)
        pipe.send(parameters)
        while pipe.recv():
            turn()
            pipe.send(None)
        pipe.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    except EOFError:  # nobody is listening any more
        return
    except Exception as error:
        pipe.send(error)
