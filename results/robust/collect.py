"""Collect `exact_match.csv` and `training.csv` from runs made as this folder's README says; print and draw them.

    python results/robust/collect.py     # reads the runs in $LENGTHLAB_RUNS or runs/

A row for each recipe, seed, test set, factor and length: every test that was made, none left out. Seeds that have no
finished run here keep the rows that the tables have of them (they were run on another machine). What is printed is
Markdown, for LOG.md.
"""

import json
import sys
from pathlib import Path

from tables import LEVEL, print_tables  # beside this file

from lengthlab.analysis.names import TESTS
from lengthlab.config.aids import aid_sentences
from lengthlab.config.load import load_config
from lengthlab.evaluation.every_test import every_test
from lengthlab.figures.data import Seed, Setting
from lengthlab.figures.far import far_beyond
from lengthlab.figures.style import only
from lengthlab.runs.columns import Row
from lengthlab.runs.csv_rows import read_csv, write_csv
from lengthlab.runs.run import Run

ROBUST = "coupling-relative-robust"
SETTINGS = {  # name -> recipe, overrides, seeds; the others are compared with the first
    ROBUST: (ROBUST, [], range(21, 31)),
    "without random sharpness": (ROBUST, ["training.sharpness.most=1"], range(26, 31)),
}
TRAINED = 10  # digits
FEWEST = 20  # examples behind a point of the figure; the tables have all
COLUMNS = ("recipe", "seed", "run", "test", "factor", "digits", "examples", "exact_match", "low", "high")
TRAINING = ("recipe", "seed", "run", "steps", "examples", "tokens", "last_loss", "precision")
TEXT = {"recipe", "run", "test", "precision"}  # all other columns are numbers


def main(folder: Path) -> None:
    tables = {folder / "exact_match.csv": COLUMNS, folder / "training.csv": TRAINING}
    scores, trained = (read_csv(file, columns, TEXT) for file, columns in tables.items())
    for name, (recipe, overrides, seeds) in SETTINGS.items():
        for seed in seeds:
            run = Run.of(load_config(recipe, [*overrides, f"seed={seed}"]))
            if run.status.get("state") != "finished":
                print(f"{name}, seed {seed}: no finished run {run.id} here", file=sys.stderr)
                continue
            scores, trained = ([row for row in rows if row["run"] != run.id] for rows in (scores, trained))
            named = {"recipe": name, "seed": seed, "run": run.id}
            scores += [named | row for row in every_test(run, lambda note: print(note, file=sys.stderr))]
            trained.append(named | training_of(run))
    order = list(SETTINGS)
    scores, trained = (
        sorted(rows, key=lambda row: (order.index(row["recipe"]), row["seed"])) for rows in (scores, trained)
    )
    for (file, columns), rows in zip(tables.items(), (scores, trained), strict=True):
        write_csv(file, columns, rows)
        print(f"{file}: {len(rows)} rows", file=sys.stderr)
    factor = load_config(ROBUST).model.logit_factor_at_test
    shown = [row for row in scores if row["factor"] == factor]
    print_tables(shown, len(scores) - len(shown))
    others = [row for row in scores if row not in shown]
    drawn = [row for row in [*shown, *others] if row["examples"] >= FEWEST]
    with only("png", "svg"):
        files = far_beyond(settings_of(drawn, factor), folder / "far", finding(drawn))
        print(*files, sep="\n", file=sys.stderr)


def settings_of(rows: list[Row], usual: float | None) -> list[Setting]:
    """What the figure shows: each recipe at each factor at test, which is named if it is not the usual one."""
    settings = []
    for name, factor in dict.fromkeys((row["recipe"], row["factor"]) for row in rows):
        recipe, overrides, _ = SETTINGS[name]
        config = load_config(recipe, [*overrides, f"model.logit_factor_at_test={factor}"])
        mine = [row for row in rows if (row["recipe"], row["factor"]) == (name, factor)]
        seeds = [
            seed_of(seed, [row for row in mine if row["seed"] == seed])
            for seed in dict.fromkeys(row["seed"] for row in mine)
        ]
        label = name if factor == usual else f"{name}, x{factor:g}"
        settings.append(Setting(label, config.training.digits, seeds, aids=aid_sentences(config)))
    return settings


def seed_of(seed: int, rows: list[Row]) -> Seed:
    """One run: uniform sums are its exact match, other sums are rows as in the error analysis."""
    sums = [
        {"digits": row["digits"], "measure": "sums", "key": TESTS[row["test"]], "value": row["exact_match"]}
        for row in rows
    ]
    return Seed(seed, [row for row in rows if row["test"] == "uniform"], errors=sums)


def finding(rows: list[Row]) -> str:
    """What the figure shows, in its title."""
    mine = [row for row in rows if row["recipe"] == ROBUST and row["test"] == "uniform"]
    if not mine:
        return "Every seed, far beyond the training length"
    longest = max(row["digits"] for row in mine)
    scores = [row["exact_match"] for row in mine if row["digits"] == longest]
    good = sum(score >= LEVEL for score in scores)
    return f"Trained on 1-{TRAINED} digits: {good} of {len(scores)} seeds have {LEVEL:.0%} at {longest:,}"


def training_of(run: Run) -> Row:
    last = [line for line in run.metrics if "loss" in line][-1]
    environment = json.loads((run.path / "environment.json").read_text())
    counted = {"steps": last["step"], "examples": last["examples"], "tokens": last["tokens"]}
    return counted | {"last_loss": last["loss"], "precision": environment["precision"]}


if __name__ == "__main__":
    main(Path(__file__).parent)
