"""`lengthlab quickstart`: the paper's recipe, fragile and mended, and the strongest rival, in one picture."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from lengthlab.cli.console import Screen, duration, plural
from lengthlab.cli.parameters import Overrides, Seed, at_least, seeds_of
from lengthlab.errors import UserError

if TYPE_CHECKING:
    from lengthlab.config.schema import Config
    from lengthlab.runs.run import Run

RECIPES = "zhou2024-mini,zhou2024-quick,coupling-relative-quick"  # one that fails, two that do not


def quickstart(
    *overrides: Overrides,
    recipes: Annotated[str, Parameter(help="Recipes to train, separated by commas.")] = RECIPES,
    seeds: Annotated[str | None, Parameter(help="Seeds for each recipe, such as 1,2 or 1-5; 1 if not given.")] = None,
    seed: Seed = None,
) -> None:
    """Train the paper's recipe and a strong rival; see how far each gets.

    Three small models are trained side by side, which takes a few minutes, and
    tested on sums longer than any they saw.
    """
    at_least(0, seed=seed)
    if seeds is not None and seed is not None:
        raise UserError("--seed and --seeds: give only one of them")
    for override in overrides:
        if override.partition("=")[0].partition(".")[0] in ("seed", "seeds"):
            raise UserError(f"{override}: quickstart takes its seeds from --seeds")
    chosen = (seed,) if seed is not None else seeds_of(seeds or "1")
    if not _run(recipes.split(","), chosen, overrides, Screen()):
        sys.exit(1)


def _run(recipes: Sequence[str], seeds: Sequence[int], overrides: Sequence[str], console: Screen) -> bool:
    """Train every recipe with every seed, evaluate, draw and report; True if all learned their training lengths."""
    from lengthlab.cli.evaluate import rows_table
    from lengthlab.cli.progress import make_view
    from lengthlab.config.aids import aid_sentences
    from lengthlab.config.checks import check, why_no_longer
    from lengthlab.config.load import load_config
    from lengthlab.figures.curves import Curve, exact_match_by_length
    from lengthlab.runs.labels import run_labels
    from lengthlab.runs.run import runs_folder
    from lengthlab.sweep.run import run_trials
    from lengthlab.sweep.trial import SweepOptions, Trial

    trials = [
        Trial(f"{recipe}, seed {seed}", load_config(recipe, [*overrides, f"seed={seed}"]), Path(recipe).stem)
        for recipe in recipes
        for seed in seeds
    ]
    configs = {trial.label: trial.config for trial in trials}
    for config in configs.values():
        check(config)
    console.say(f"Training side by side, one process and one thread each ({len(trials)} in all):")
    for label, config in configs.items():
        console.say(f"  {label}")
        console.say(
            f"    trained on 1-{config.training.digits} digits, tested on up to {max(config.evaluation.digits)}"
        )
    console.say()
    started = time.monotonic()
    outcomes = run_trials(trials, SweepOptions(), make_view(console))
    seconds = time.monotonic() - started

    runs = {trial.label: trial.run for trial in trials}
    finished = [one.trial for one in outcomes if one.state == "finished"]
    results = {trial.label: rows for trial in finished if (rows := trial.run.evaluation)}
    for one in outcomes:
        if one.state == "failed":
            console.say(f"{one.trial.label} did not finish: {one.error}", "bold red")
    if not results:
        return False
    trained = {label: configs[label].training.digits for label in results}
    settings = [configs[label].model_dump(mode="json") for label in results]
    names = run_labels(settings, list(results), [runs[label].recipe for label in results])
    curves = []
    for name, (label, rows) in zip(names, results.items(), strict=True):
        config = configs[label]
        ends = why_no_longer(config, rows[-1]["digits"])
        curves.append(Curve(name, rows, trained[label], aid_sentences(config), ends))
    files = exact_match_by_length(curves, runs_folder() / "quickstart")
    console.say()
    console.show(rows_table(results, max(trained.values())))
    learned = [_verdict(console, label, rows, configs[label]) for label, rows in results.items()]
    _closing(console, seconds, files, runs, recipes)
    return len(results) == len(runs) and all(learned)


def _verdict(console: Screen, label: str, rows: list[dict[str, Any]], config: "Config") -> bool:
    """Say plainly how one run did; True if it learned its training lengths."""
    trained = config.training.digits
    inside = [row for row in rows if row["digits"] <= trained]
    if not inside:
        console.say(f"{label}: not tested on its training lengths; {_score(rows[-1])}.")
        return True
    worst = min(inside, key=lambda row: row["exact_match"])
    overall = sum(row["exact_match"] for row in inside) / len(inside)
    parts = [f"{overall:.2%} on training lengths (worst: {_score(worst)})"]
    half_longer = next((row for row in rows if row["digits"] == round(1.5 * trained)), None)
    parts += [f"1.5 times as long: {_score(half_longer)}"] if half_longer else []
    parts += [f"longest: {_score(rows[-1])}"]
    learned = overall >= 0.99
    if not learned:
        parts.append("FAILED: it did not learn its training lengths in the steps it had")
    elif half_longer and half_longer["exact_match"] == 0:
        parts.append("FAILED at 1.5 times its training length: the fragility that the paper reports")
    console.say(f"{label}: {'; '.join(parts)}.", "green" if learned else "bold red")
    return learned


def _score(row: dict[str, Any]) -> str:
    return f"{row['exact_match']:.1%} at {plural(row['digits'], 'digit')}"


def _closing(
    console: Screen, seconds: float, files: Sequence[Path], runs: dict[str, "Run"], recipes: Sequence[str]
) -> None:
    last = list(runs.values())[-1]
    tries = {
        "ask a trained model for a 20-digit sum": f"lengthlab add {last.id} 31415926535897932384 27182818284590452353",
        "see what the model reads": f"lengthlab show {recipes[0]}",
        "sums with a carry through 20 places": f"lengthlab evaluate {last.id} --digits 20-24 --chain 20",
        "the same with another position encoding": f"lengthlab train {recipes[0]} encoding=rope seed=1",
        "what else there is to choose from": "lengthlab list",
    }
    console.say(f"\nTraining and testing took {duration(seconds)}.")
    for name, paths in (("Figure", files), ("Runs", [run.path for run in runs.values()])):
        console.put(f"{name}:")
        for path in paths:
            console.put(f"  {path}")
    console.say("\nWhat to try next, after `source .venv/bin/activate`:")
    for purpose, command in tries.items():
        console.put(f"  # {purpose}", "dim")
        console.put(f"  {command}")
