"""Train one run in processes that are killed one after the other, at random moments; print after which steps.

A process waits after each line of metrics until it may go on. However late its killer is woken, it comes no further
than the next line, so a busy machine does not bring the run to its end. A script of its own, because only a process
without other threads may fork.
"""

import json
import os
import random
import signal
import socket
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch

from lengthlab.config.load import load_config
from lengthlab.runs.run import Run
from lengthlab.training.checkpoint import saved_steps
from lengthlab.training.loop import Trainer, Watcher

SMOKE = str(Path(__file__).parents[1] / "smoke.yaml")
LINES = 4  # of metrics, at most, before a process is killed


def tell(killer: socket.socket, line: dict[str, Any]) -> None:
    killer.send(b".")
    killer.recv(1)


def warm_up(overrides: list[str]) -> None:
    """Train a step here: children find all modules imported."""
    config = load_config(SMOKE, [*overrides, "training.steps=1"])
    with tempfile.TemporaryDirectory() as place:
        Trainer(config, Run(Path(place) / config.id), Watcher()).train()


def main(overrides: list[str], kills: int) -> None:
    torch.set_num_threads(1)
    warm_up(overrides)
    config = load_config(SMOKE, overrides)
    run, rng, steps = Run.of(config), random.Random(0), []
    for _ in range(kills):
        here, there = socket.socketpair()
        child = os.fork()
        if child == 0:
            here.close()
            Trainer(config, run, Watcher(metrics=partial(tell, there))).train()
            os._exit(0)
        there.close()
        for _ in range(rng.randint(1, LINES)):  # let it get somewhere
            assert here.recv(1), "it ended by itself"
            here.send(b".")
        time.sleep(0.02 * rng.random())  # into a step, a line of metrics or a checkpoint
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "it came to its end before it could be killed"
        here.close()
        steps.append((saved_steps(run.checkpoints) or [0])[-1])
    print(json.dumps(steps))


if __name__ == "__main__":
    main(sys.argv[2:], int(sys.argv[1]))
