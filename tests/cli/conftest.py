"""Fixtures for commands."""

import contextlib
import os
import signal
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 120  # seconds


@pytest.fixture
def several(make_run: Callable[..., Path]) -> None:
    """Two encodings with five seeds each, and one run whose process is gone."""
    scores = {"fire": [1.0, 0.97, 0.88, 0.71, 0.86], "rope": [0.41, 0.2, 0.65, 0.5, 0.3]}
    for encoding, of_seeds in scores.items():
        for seed, score in enumerate(of_seeds):
            settings = {"encoding": {"kind": encoding}, "seeds.weights": seed, "evaluation.examples": 100}
            make_run(f"{encoding}{seed}", {3: 1.0, 6: score, 9: score / 2}, settings)
    make_run("late", settings={"encoding": {"kind": "fire"}, "seeds.weights": 9, "evaluation.examples": 100})


def kill(process: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has ended
        os.kill(process, number)


@pytest.fixture
def interrupted(python: Any) -> Callable[..., tuple[list[str], str]]:
    """Run a command in a process of its own and press Ctrl-C once it has printed `until`.

    Returns the lines printed up to then, and all of standard error.
    """

    def run(*command: str, until: str) -> tuple[list[str], str]:
        heard, said = os.pipe()
        with open(os.devnull) as nothing, open(heard) as out, tempfile.TemporaryFile("w+") as err:
            with open(said, "w") as told:
                process = python.start("-m", "lengthlab", *command, files=(nothing, told, err))
            printed = []
            for line in out:
                printed.append(line.strip())
                if until in line:
                    break
            killer = threading.Timer(PATIENCE, kill, (process, signal.SIGKILL))  # nothing runs on that did not stop
            killer.start()
            kill(process, signal.SIGINT)
            out.read()
            status = python.wait()
            killer.cancel()
            err.seek(0)
            said_last = err.read().strip()
        assert status == 130, said_last
        return printed, said_last

    return run
