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


def train_side_by_side(configs: Mapping[str, Config], display: Display) -> dict[str, Run]:
    """Train the labelled configs, all at once; returns their runs, whatever state they ended in."""
    runs = {label: Run.of(config) for label, config in configs.items()}
    with tempfile.TemporaryDirectory() as folder:
        processes = {}
        try:
            for label, config in configs.items():
                display.add(label, config.training.steps)
                if runs[label].status.get("state") != "finished":
                    recipe = Path(folder) / f"{config.id}.yaml"
                    recipe.write_text(yaml.safe_dump(config.model_dump(mode="json")))
                    processes[label] = _start(recipe)
            _follow(runs, {label: config.training.steps for label, config in configs.items()}, processes, display)
        except BaseException:  # Ctrl-C among others: every run gets to say that it was interrupted
            for process in processes.values():
                process.send_signal(signal.SIGINT)
            for process in processes.values():
                process.communicate()
            raise
    return runs


def _start(recipe: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "lengthlab", "train", str(recipe), "--threads", "1", "--json"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a Ctrl-C reaches it through this process only, once
    )


def _follow(
    runs: Mapping[str, Run],
    steps: Mapping[str, int],
    processes: Mapping[str, subprocess.Popen[str]],
    display: Display,
) -> None:
    """Show new lines of metrics until every process has ended."""
    shown = dict.fromkeys(runs, 0)
    waiting = set(processes)
    while True:
        for label, run in runs.items():
            lines, speed = run.metrics, run.speed
            for line in lines[shown[label] :]:
                display.metrics(label, line | {"tokens_per_second": speed.get(line["step"], 0.0)})
                if line["step"] == steps[label] and label in waiting:
                    display.note(label, "trained; testing")
            if len(lines) < shown[label]:  # the folder of an earlier attempt was replaced
                shown[label] = 0
            else:
                shown[label] = len(lines)
        for label in sorted(waiting):
            if processes[label].poll() is not None:
                waiting.remove(label)
                stderr = processes[label].communicate()[1]
                if processes[label].returncode:
                    display.note(label, stderr.strip().splitlines()[-1] if stderr.strip() else "ended without a word")
        if not waiting:
            return
        time.sleep(POLL_SECONDS)
