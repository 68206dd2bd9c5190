"""Training steps of another commit of lengthlab: a script that runs with that commit's code and imports nothing else.

    python -P elsewhere.py '{"recipe": ..., "overrides": [...], "digits": 10, "batch": 64, "threads": 1}'

It prints its parameters; then, for each line that it reads, it takes a step and prints its processor time; at the end
of its input it prints the most memory that it had.
"""

import json
import resource
import sys
import time
from importlib import import_module

import torch


def main(text: str) -> None:
    options = json.loads(text)
    torch.set_num_threads(options["threads"])
    try:
        load_config = import_module("lengthlab.config.load").load_config
    except ModuleNotFoundError:  # where it was until 2026-11-16
        load_config = import_module("lengthlab.recipes.load").load_config
    engine = import_module("lengthlab.training.step").Engine(load_config(options["recipe"], options["overrides"]))
    print(sum(parameter.numel() for parameter in engine.model.parameters()), flush=True)
    for _ in sys.stdin:
        started = time.process_time()
        engine.train_on([engine.pipeline.samples(options["digits"], options["batch"])[1]], 0)
        print(time.process_time() - started, flush=True)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
