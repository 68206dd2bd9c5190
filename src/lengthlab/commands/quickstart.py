"""`lengthlab quickstart`: the paper's recipe and the strongest rival side by side, in one picture."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from lengthlab.checks import check
from lengthlab.commands.evaluate import rows_table
from lengthlab.config import Config
from lengthlab.figures.exact_match import Curve, exact_match_by_length
from lengthlab.recipes.load import load_config
from lengthlab.runs import Run, runs_folder
from lengthlab.sweep.run import run_trials
from lengthlab.sweep.side_by_side import SideBySide
from lengthlab.sweep.trial import SweepOptions, Trial


def quickstart(recipes: Sequence[str], seeds: Sequence[int], overrides: Sequence[str], console: Console) -> bool:
    """Train every recipe with every seed, evaluate, draw and report; True if all learned their training lengths."""
    configs = {
        f"{recipe}, seed {seed}": load_config(recipe, [*overrides, f"seed={seed}"])
        for recipe in recipes
        for seed in seeds
    }
    for config in configs.values():
        check(config)
    console.print(f"Training side by side, one process and one thread each ({len(configs)} in all):", highlight=False)
    for label, config in configs.items():
        lengths = f"trained on 1-{config.training.digits} digits, then tested on up to {max(config.evaluation.digits)}"
        console.print(f"  {label}: {lengths}", highlight=False, soft_wrap=True)
    console.print()
    started = time.monotonic()
    trials = [Trial(label, config) for label, config in configs.items()]
    outcomes = run_trials(trials, SweepOptions(), console, SideBySide(console))
    minutes = (time.monotonic() - started) / 60

    runs = {trial.label: trial.run for trial in trials}
    finished = [one.trial for one in outcomes if one.state == "finished"]
    results = {trial.label: rows for trial in finished if (rows := trial.run.evaluation)}
    for one in outcomes:
        if one.state == "failed":
            console.print(f"{one.trial.label} did not finish: {one.error}", style="bold red", markup=False)
    if not results:
        return False
    trained = {label: configs[label].training.digits for label in results}
    curves = [Curve(label, rows, trained[label]) for label, rows in results.items()]
    title = f"Trained on {_numbers(trained)} digits, tested on longer sums"
    files = exact_match_by_length(curves, runs_folder() / "quickstart", title)
    console.print()
    console.print(rows_table(results, max(trained.values())))
    learned = [_verdict(console, label, rows, configs[label]) for label, rows in results.items()]
    _closing(console, minutes, files, runs, recipes)
    return len(results) == len(runs) and all(learned)


def _numbers(trained: dict[str, int]) -> str:
    return " or ".join(f"1-{digits}" for digits in sorted(set(trained.values())))


def _verdict(console: Console, label: str, rows: list[dict[str, Any]], config: Config) -> bool:
    """Say plainly how one run did; True if it learned its training lengths."""
    trained = config.training.digits
    inside = [row for row in rows if row["digits"] <= trained]
    if not inside:
        console.print(
            f"{label}: not tested on the lengths it was trained on; {_score(rows[-1])}.", highlight=False, markup=False
        )
        return True
    worst = min(inside, key=lambda row: row["exact_match"])
    overall = sum(row["exact_match"] for row in inside) / len(inside)
    parts = [f"{overall:.2%} on the lengths it was trained on (worst: {_score(worst)})"]
    half_longer = next((row for row in rows if row["digits"] == round(1.5 * trained)), None)
    parts += [f"1.5x: {_score(half_longer)}"] if half_longer else []
    parts += [f"longest: {_score(rows[-1])}"]
    learned = overall >= 0.99
    if not learned:
        parts.append("FAILED: it did not learn its training lengths in the steps it had")
    elif half_longer and half_longer["exact_match"] == 0:
        parts.append("FAILED to reach 1.5x: the fragility that the paper reports")
    console.print(
        f"{label}: {'; '.join(parts)}.", style="green" if learned else "bold red", highlight=False, soft_wrap=True
    )
    return learned


def _score(row: dict[str, Any]) -> str:
    return f"{row['exact_match']:.1%} at {row['digits']} digits"


def _closing(console: Console, minutes: float, files: list[Path], runs: dict[str, Run], recipes: Sequence[str]) -> None:
    last = list(runs.values())[-1]
    tries = {
        f"lengthlab add {last.id} 31415926535897932384 27182818284590452353": "ask a trained model for a 20-digit sum",
        f"lengthlab show {recipes[0]}": "see what the model reads",
        f"lengthlab evaluate {last.id} --digits 20-24 --chain 20": "sums with a carry through 20 places",
        f"lengthlab train {recipes[0]} encoding=rope seed=1": "the same with another position encoding",
        "lengthlab list": "what else there is to choose from",
    }
    width = max(map(len, tries))
    lines = [
        f"Training and testing took {minutes:.1f} minutes.",
        "Figure  " + "  ".join(map(str, files)),
        "Runs    " + "  ".join(str(run.path) for run in runs.values()),
        "",
        "What to try next, after `source .venv/bin/activate`:",
        *(f"  {command:<{width}}  # {purpose}" for command, purpose in tries.items()),
    ]
    console.print("\n" + "\n".join(lines), highlight=False, soft_wrap=True, markup=False)
