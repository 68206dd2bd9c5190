"""`lengthlab train`: one run from a config, or what it would cost."""

import os
from dataclasses import asdict
from typing import Any

from rich.console import Console

from lengthlab.config import Config
from lengthlab.display import make_display
from lengthlab.model.device import device_of
from lengthlab.runs import Run
from lengthlab.training.estimate import Estimate, share_of_peak
from lengthlab.training.loop import Trainer, Watcher
from lengthlab.training.sinks import sinks
from lengthlab.training.world import world


def train_config(
    config: Config, run: Run, fresh: bool, console: Console, tensorboard: bool = False, wandb: bool = False
) -> bool:
    """Train and evaluate, unless this very run is finished already and `fresh` is not asked for.

    True in the one process that should speak of the result.
    """
    if run.status.get("state") == "finished" and not fresh:
        if os.environ.get("RANK", "0") != "0":
            return False
        console.print(f"run {run.id} is finished already; --fresh trains it again", highlight=False)
        return True
    with world(device_of(config.training.device)) as processes:
        if not processes.first:
            Trainer(config, run, Watcher(), processes).train(fresh)
            return False
        with make_display(console) as display, sinks(run, config, tensorboard, wandb) as others:
            display.add(run.id, config.training.steps)

            def tell(line: dict[str, Any]) -> None:
                speed = line.get("tokens_per_second")
                display.metrics(run.id, line if speed is None else line | {"share_of_peak": share * speed})
                for sink in others:
                    sink(line)

            trainer = Trainer(config, run, Watcher(tell, lambda text: display.note(run.id, text)), processes)
            share = share_of_peak(trainer.model, trainer.engine.hardware)
            trainer.train(fresh)
    return True


def print_estimate(estimate: Estimate, run: Run) -> None:
    """The cost of a run, for people."""
    print(f"run         {run.path} (not started)")
    print(f"parameters  {estimate.parameters:,}")
    print(f"examples    {estimate.examples:,}")
    print(f"tokens      {estimate.tokens:,}")
    print(f"FLOPs       {estimate.flops:.2e}")
    print(f"memory      {estimate.memory_bytes / 2**20:,.0f} MiB")
    print(f"time        {_duration(estimate.seconds)} on this machine, roughly")


def estimate_json(estimate: Estimate, run: Run) -> dict[str, object]:
    return {"run": str(run.path), **asdict(estimate)}


def _duration(seconds: float) -> str:
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} seconds"
