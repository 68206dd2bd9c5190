"""Train one run in processes that are killed one after the other, at random moments; print after which steps.

A script of its own, because only a process without other threads may fork.
"""

import json
import os
import random
import signal
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from lengthlab.config.load import load_config
from lengthlab.runs.run import Run
from lengthlab.training.checkpoint import saved_steps
from lengthlab.training.loop import Trainer, Watcher


def tell(end: int, line: dict[str, Any]) -> None:
    os.write(end, b".")


def main(overrides: list[str], kills: int) -> None:
    config = load_config(str(Path(__file__).parents[1] / "smoke.yaml"), overrides)
    run, rng, steps = Run.of(config), random.Random(0), []
    for _ in range(kills):
        heard, told = os.pipe()
        child = os.fork()
        if child == 0:
            Trainer(config, run, Watcher(metrics=partial(tell, told))).train()
            os._exit(0)
        os.close(told)
        for _ in range(rng.randint(1, 8)):  # let it get somewhere
            os.read(heard, 1)
        time.sleep(0.02 * rng.random())  # into a step, a line of metrics or a checkpoint
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "it came to its end before it could be killed"
        os.close(heard)
        steps.append((saved_steps(run.checkpoints) or [0])[-1])
    print(json.dumps(steps))


if __name__ == "__main__":
    main(sys.argv[2:], int(sys.argv[1]))
