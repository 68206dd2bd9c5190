"""Fixtures for commands."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def several(make_run: Callable[..., Path]) -> None:
    """Two encodings with five seeds each, and one run whose process is gone."""
    scores = {"fire": [1.0, 0.97, 0.88, 0.71, 0.86], "rope": [0.41, 0.2, 0.65, 0.5, 0.3]}
    for encoding, of_seeds in scores.items():
        for seed, score in enumerate(of_seeds):
            settings = {"encoding": {"kind": encoding}, "seeds.weights": seed, "evaluation.examples": 100}
            make_run(f"{encoding}{seed}", {3: 1.0, 6: score, 9: score / 2}, settings)
    make_run("late", settings={"encoding": {"kind": "fire"}, "seeds.weights": 9, "evaluation.examples": 100})


@pytest.fixture
def interrupted() -> Callable[..., tuple[list[str], str]]:
    """Run a command in a process of its own and press Ctrl-C once it has printed `until`.

    Returns the lines printed up to then, and all of standard error.
    """

    def run(*command: str, until: str) -> tuple[list[str], str]:
        process = subprocess.Popen(
            [sys.executable, "-u", "-m", "lengthlab", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        printed = []
        for line in process.stdout:
            printed.append(line.strip())
            if until in line:
                break
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=120)
        finally:
            process.kill()  # nothing runs on that did not stop
        assert process.returncode == 130, err
        return printed, err.strip()

    return run
