"""Several runs at the same time, one process and one thread each.

Two processes of one thread train faster together than one process of two threads, and the run folder
is all they share with this process: it follows their metrics and their status.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import yaml

from lengthlab.config import Config
from lengthlab.display import Display
from lengthlab.runs import Run

POLL_SECONDS = 0.5


class Child:
    """A process that trains one config."""

    def __init__(self, config: Config, folder: Path) -> None:
        self.steps = config.training.steps
        recipe = folder / f"{config.id}.yaml"
        recipe.write_text(yaml.safe_dump(config.model_dump(mode="json")))
        self.errors = folder / f"{config.id}.err"
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "lengthlab", "train", str(recipe), "--threads", "1", "--json"],
                env=os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,  # a Ctrl-C reaches it through this process only, once
            )

    @property
    def complaint(self) -> str | None:
        """What it said last if it failed."""
        if not self.process.returncode:
            return None
        said = self.errors.read_text(errors="replace").strip().splitlines()
        return said[-1] if said else "ended without a word"


def train_side_by_side(configs: Mapping[str, Config], display: Display) -> dict[str, Run]:
    """Train the labelled configs, all at once; returns their runs, whatever state they ended in."""
    runs = {label: Run.of(config) for label, config in configs.items()}
    children: dict[str, Child] = {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            for label, config in configs.items():
                display.add(label, config.training.steps)
                if runs[label].status.get("state") != "finished":
                    children[label] = Child(config, Path(folder))
            _follow(runs, children, display)
        except BaseException:  # Ctrl-C among others: every run gets to say that it was interrupted
            for child in children.values():
                child.process.send_signal(signal.SIGINT)
            for child in children.values():
                child.process.wait()
            raise
    return runs


def _follow(runs: Mapping[str, Run], children: Mapping[str, Child], display: Display) -> None:
    """Show new lines of metrics until every process has ended."""
    shown = dict.fromkeys(runs, 0)
    waiting = set(children)
    while True:
        ended = {label for label in waiting if children[label].process.poll() is not None}
        for label, run in runs.items():
            lines, speed = run.metrics, run.speed
            for line in lines[shown[label] :]:
                display.metrics(label, line | {"tokens_per_second": speed.get(line["step"], 0.0)})
                if label in waiting and "loss" in line and line["step"] == children[label].steps:
                    display.note(label, "trained; testing")
            shown[label] = len(lines)  # fewer than before if a run went back to its last checkpoint
        for label in sorted(ended):
            if complaint := children[label].complaint:
                display.note(label, complaint)
        waiting -= ended
        if not waiting:
            return
        time.sleep(POLL_SECONDS)
