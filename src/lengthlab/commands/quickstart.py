"""`lengthlab quickstart`: the paper's recipe at mini scale, two seeds side by side, one picture."""

import time
from pathlib import Path
from typing import Any

from rich.console import Console

from lengthlab.checks import check
from lengthlab.commands.evaluate import rows_table
from lengthlab.display import make_display
from lengthlab.figures.exact_match import Curve, exact_match_by_length
from lengthlab.recipes.load import load_config
from lengthlab.runs import Run, runs_folder
from lengthlab.sweep.side_by_side import train_side_by_side

SEEDS = (1, 2)  # the recipe was tuned on other seeds (see LOG.md)


def quickstart(recipe: str, overrides: list[str], console: Console) -> bool:
    """Train, evaluate, draw and report; True if every seed learned its training lengths."""
    configs = {f"seed {seed}": load_config(recipe, [*overrides, f"seed={seed}"]) for seed in SEEDS}
    for config in configs.values():
        check(config)
    config = configs[f"seed {SEEDS[0]}"]  # the seeds differ in nothing else
    trained = config.training.digits
    console.print(
        f"Training {len(configs)} small Transformers on sums of 1-{trained} digits, then testing them on up to "
        f"{max(config.evaluation.digits)} digits.\nOne process and one thread each.\n",
        highlight=False,
    )
    started = time.monotonic()
    with make_display(console) as display:
        runs = train_side_by_side(configs, display)
    minutes = (time.monotonic() - started) / 60

    results = {label: rows for label, run in runs.items() if (rows := run.evaluation)}
    for label in sorted(runs.keys() - results.keys()):
        console.print(
            f"{label} did not finish: {runs[label].status.get('message', 'no reason recorded')}", style="bold red"
        )
    if not results:
        return False
    curves = [Curve(label, rows, trained) for label, rows in results.items()]
    files = exact_match_by_length(
        curves, runs_folder() / "quickstart", "FIRE, randomized positions, reversed digits, index hints"
    )
    console.print()
    console.print(rows_table(results, trained))
    learned = [_verdict(console, label, rows, trained) for label, rows in results.items()]
    _closing(console, minutes, files, runs, recipe)
    return len(results) == len(runs) and all(learned)


def _verdict(console: Console, label: str, rows: list[dict[str, Any]], trained: int) -> bool:
    """Say plainly how one seed did; True if it learned its training lengths."""
    inside = [row for row in rows if row["digits"] <= trained]
    worst = min(inside, key=lambda row: row["exact_match"])
    overall = sum(row["exact_match"] for row in inside) / len(inside)
    text = f"{label}: {overall:.2%} on the lengths it was trained on"
    text += f" (worst: {worst['exact_match']:.1%} at {worst['digits']} digits)"
    beyond = next((row for row in rows if row["digits"] == round(1.5 * trained)), None)
    if beyond:
        text += f", {beyond['exact_match']:.1%} at {beyond['digits']} digits (1.5x)"
    learned = overall >= 0.99
    if not learned:
        text += ". FAILED: it did not learn its training lengths in the steps it had"
    elif beyond and beyond["low"] == 0:
        text += ". FAILED to reach 1.5x: the fragility that the paper reports"
    console.print(text + ".", style="green" if learned else "bold red", highlight=False)
    return learned


def _closing(console: Console, minutes: float, files: list[Path], runs: dict[str, Run], recipe: str) -> None:
    first = next(iter(runs.values()))
    tries = {
        f"lengthlab add {first.id} 314159265358 271828182845": "ask a trained model for a 12-digit sum",
        f"lengthlab show {recipe}": "see what the model reads",
        f"lengthlab evaluate {first.id} --digits 16-30": "test further out",
        f"lengthlab train {recipe} encoding=none seed=1": "the same without a position encoding",
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
