"""`lengthlab train`: one run from a recipe, or what it would cost."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from lengthlab.cli.console import Screen, duration, print_json, size
from lengthlab.cli.parameters import MOST_THREADS, Json, Overrides, Recipe, Seed, at_least, flag, with_seed
from lengthlab.errors import UserError
from lengthlab.sweep.trial import Trial

if TYPE_CHECKING:
    from lengthlab.config.schema import Config
    from lengthlab.runs.run import Run
    from lengthlab.training.sinks import Sink


def train(
    recipe: Recipe | None = None,
    /,
    *overrides: Overrides,
    seed: Seed = None,
    resume: Annotated[str | None, Parameter(help="Resume this run (its folder or id) instead of a recipe.")] = None,
    dry_run: Annotated[bool, flag("Print what it would cost; start nothing.")] = False,
    fresh: Annotated[bool, flag("Train again even if this run is finished.")] = False,
    threads: Annotated[int | None, Parameter(help="Processor threads; all cores if not given.")] = None,
    tensorboard: Annotated[bool, flag("Also write metrics and scores for TensorBoard, in the run folder.")] = False,
    wandb: Annotated[bool, flag("Also write to Weights & Biases: online if you are logged in.")] = False,
    as_json: Json = False,
) -> None:
    """Train a recipe and test it. A run that was cut short resumes.

    Everything is kept in runs/ID, where ID is a hash of the settings. Settings
    are given by their dotted names; lengthlab list options shows them all.

    lengthlab train zhou2024-mini encoding=rope training.steps=500 --seed 1
    """
    at_least(1, MOST_THREADS, threads=threads)
    if (recipe is None) == (resume is None):
        raise UserError("train: name either a recipe, such as zhou2024-mini, or --resume RUN")
    if resume is not None and seed is not None:
        raise UserError("--seed: a run that is resumed has its seeds already")
    from lengthlab.config.load import load_config
    from lengthlab.runs.run import Run

    if recipe is not None:
        config = load_config(recipe, with_seed(overrides, seed))
        run = Run.of(config)
    else:
        from lengthlab.training.resume import config_of

        run = Run.find(resume or "")
        config = config_of(run)
    from lengthlab.config.checks import check

    check(config)
    if threads:
        import torch

        torch.set_num_threads(threads)
    if dry_run:
        _print_estimate(config, run, as_json)
        return
    if resume and not run.known_status() and not run.checkpoints.is_dir():
        raise UserError(
            f"--resume {resume}: no run was started there; lengthlab train {run.path / 'config.yaml'} starts one"
        )
    name = Path(recipe).stem if recipe else run.known_status().get("recipe", "")
    label = " ".join(filter(None, (name, run.id)))
    if _train(Trial(label, config, name, run.path), fresh, Screen(stderr=as_json), tensorboard, wandb):
        _print_result(config, run, as_json)


def _train(trial: Trial, fresh: bool, console: Screen, tensorboard: bool, wandb: bool) -> bool:
    """Train and evaluate, unless this very run is finished already and `fresh` is not asked for.

    True in the one process that should report the result.
    """
    config, run = trial.config, trial.run
    from lengthlab.training.resume import is_finished

    if not fresh and is_finished(run):
        if os.environ.get("RANK", "0") != "0":
            return False
        unused = " and ".join(["--tensorboard"] * tensorboard + ["--wandb"] * wandb)
        nothing = f", so {unused} had nothing to write" if unused else ""
        console.say(f"run {run.id} is finished already{nothing}; --fresh trains it again")
        return True
    from lengthlab.cli.progress import make_view
    from lengthlab.model.build import device_of
    from lengthlab.sweep.progress import TrialProgress
    from lengthlab.training.loop import Trainer, Watcher
    from lengthlab.training.sinks import sinks
    from lengthlab.training.world import world

    with world(device_of(config.training.device)) as processes:
        if not processes.first:
            Trainer(config, run, Watcher(), processes).train(fresh)
            return False
        progress = TrialProgress(trial)
        try:
            with make_view(console) as view, sinks(run, config, tensorboard, wandb) as others:

                def show(line: dict[str, Any]) -> None:
                    progress.look()
                    view.show([progress])
                    progress.news.clear()
                    for sink in others:
                        sink.write(line)

                trainer = Trainer(
                    config, run, Watcher(show, lambda text: view.say(trial.label, text)), processes, trial.recipe
                )
                progress.news.clear()  # lines of an earlier process
                if fresh:
                    progress.forget()
                trainer.train(fresh)
                progress.end("finished")
                if others:
                    _finish(others, run, config)
        except KeyboardInterrupt:
            if "step" not in run.status:  # nothing is begun yet
                raise
            where = f"at step {run.status['step']} of {config.training.steps}"
            raise KeyboardInterrupt(f"interrupted {where}", run.resume_command) from None
    return True


def _finish(sinks: "Sequence[Sink]", run: "Run", config: "Config") -> None:
    """Give the sinks the final scores, as numbers and as a picture."""
    from lengthlab.figures.curves import Curve, exact_match_by_length
    from lengthlab.figures.style import only
    from lengthlab.runs.labels import run_labels

    rows = run.evaluation or []
    (label,) = run_labels([config.model_dump(mode="json")], [run.id], [run.recipe])
    with TemporaryDirectory() as scratch, only("png"):
        (figure,) = exact_match_by_length([Curve(label, rows, config.training.digits)], Path(scratch) / "exact-match")
        for sink in sinks:
            sink.finish(rows, figure)


def _print_result(config: "Config", run: "Run", as_json: bool) -> None:
    rows = run.evaluation or []
    if as_json:
        print_json({"run": str(run.path), **run.status, "evaluation": rows})
        return
    from lengthlab.cli.evaluate import rows_table

    console = Screen()
    if rows:
        console.show(rows_table({run.id: rows}, config.training.digits))
    if best := run.status.get("best"):
        score = f"{best['exact_match']:.1%} after step {best['step']}"
        console.say(f"best on training lengths: {score}; to test those weights:")
        console.put(f"lengthlab evaluate {run.id} --weights best")
    console.put(f"run: {run.path}")


def _source(config: "Config", examples: int) -> str:
    """Where training examples come from."""
    size = config.training.examples
    return f"a training set of {size:,}: {examples / size:.2g} passes" if size else "an endless stream"


def _print_estimate(config: "Config", run: "Run", as_json: bool) -> None:
    """The cost of a run."""
    from lengthlab.training.estimate import estimate

    cost = estimate(config)
    if as_json:
        print_json({"run": str(run.path), **asdict(cost), "training_set": config.training.examples or None})
        return
    lines = {
        "run": f"{run.path} (not started)",
        "parameters": f"{cost.parameters:,}",
        "examples": f"{cost.examples:,} of {_source(config, cost.examples)}",
        "tokens": f"{cost.tokens:,}",
        "FLOPs": f"{cost.flops:.2e}",
        "memory": f"about {size(cost.memory_bytes)}",
        "time": f"about {duration(cost.seconds)} on this machine",
    }
    for name, text in lines.items():
        Screen().put(f"{name:<10}  {text}")
