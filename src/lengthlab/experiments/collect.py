"""From finished run folders to result tables.

Rows of runs that are not on this machine stay as long as their experiment asks for these very runs; runs that no
experiment has any more are left out.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

import torch

from lengthlab.config import Config
from lengthlab.errors import UserError
from lengthlab.experiments.load import Experiment
from lengthlab.experiments.scales import ScaleName
from lengthlab.experiments.trials import seeds_of, trials
from lengthlab.formats import FORMATS
from lengthlab.model.build import build_model
from lengthlab.results import COLUMNS, Results, Row, read_table, write_tables
from lengthlab.runs import Run
from lengthlab.tasks import TASKS

MOST_STEPS = 200  # rows of training.csv for each run


def collect(
    experiments: Sequence[Experiment], scale: ScaleName, folder: Path, seeds: Sequence[int] | None = None
) -> Results:
    """Bring the tables in `folder` up to date with the finished runs of these experiments."""
    tables = {table: read_table(folder, table) for table in COLUMNS}
    known = {row["run"] for row in tables["trials"]}
    names = {experiment.name for experiment in experiments}
    members = [row for row in tables["members"] if row["experiment"] not in names]
    finished: dict[str, Run] = {}
    for experiment in experiments:
        before = {row["seed"] for row in tables["members"] if row["experiment"] == experiment.name}
        asked = sorted({*seeds_of(experiment, scale), *(seeds or ()), *before})
        for planned in trials(experiment, scale, asked):
            run = Run.of(planned.config)
            if run.id not in finished and run.status.get("state") == "finished":
                finished[run.id] = run
            if run.id in finished or run.id in known:
                row = {"setting": planned.setting, "seed": planned.seed, "run": run.id}
                members.append({"experiment": experiment.name} | row)
    kept = {row["run"] for row in members} - finished.keys()
    fresh = [rows_of(run) for run in finished.values()]
    for table in COLUMNS.keys() - {"members"}:
        old = [row for row in tables[table] if row["run"] in kept]
        tables[table] = old + [row for rows in fresh for row in rows[table]]
    order = {name: place for place, name in enumerate(sorted({row["experiment"] for row in members}))}
    tables["members"] = sorted(members, key=lambda row: order[row["experiment"]])  # settings as declared
    write_tables(folder, tables)
    return Results(folder)


def rows_of(run: Run) -> dict[str, list[Row]]:
    """Everything that the tables have of one finished run."""
    config, lines = run.config, run.metrics
    logged = [line for line in lines if "loss" in line]
    rows = {
        "trials": [trial_row(run, config, logged)],
        "exact_match": [
            row | {"chain": row.get("chain", config.evaluation.chain)}
            for weights in config.evaluation.weights
            for row in (one | {"weights": weights} for one in run.evaluation_of(weights))
        ],
        "training": [{key: line[key] for key in ("step", "loss", "accuracy")} for line in _thinned(logged)],
        "evolution": [
            {"step": line["step"], "digits": int(digits), "exact_match": share}
            for line in lines
            for digits, share in line.get("exact_match", {}).items()
        ],
        "errors": error_rows(run),
    }
    return {
        table: [{"run": run.id} | {key: row[key] for key in row if key in COLUMNS[table]} for row in found]
        for table, found in rows.items()
    }


def trial_row(run: Run, config: Config, logged: Sequence[dict[str, Any]]) -> Row:
    """What was trained, and how it went. Seconds are those of training, from the median speed."""
    pairs, text, optimizer = config.pairs, config.format.model_dump(), config.training.optimizer.model_dump()
    speeds = [speed for speed in run.speed.values() if speed > 0]
    last = logged[-1] if logged else {}
    return {
        "state": run.status["state"],
        "encoding": " + ".join(pair.encoding.kind for pair in pairs),
        "positions": " + ".join(pair.positions.kind for pair in pairs),
        "format": text["kind"],
        "hints": text["hints"],
        "order": text["order"],
        "spaces": text["spaces"]["probability"],
        "mask": config.model.mask,
        "layers": config.model.layers,
        "width": config.model.width,
        "feedforward": config.model.feedforward,
        "heads": config.model.heads,
        "parameters": count_parameters(config),
        "dropout": config.model.dropout,
        "weight_decay": optimizer.get("weight_decay"),
        "rate": optimizer.get("rate"),
        "trained_digits": config.training.digits,
        "steps": last.get("step", 0),
        "examples": last.get("examples", 0),
        "tokens": last.get("tokens", 0),
        "seed_weights": config.seeds.weights,
        "seed_data": config.seeds.data,
        "seed_sampling": config.seeds.sampling,
        "seconds": round(last["tokens"] / median(speeds), 1) if speeds and last else None,
        "final_loss": fmean(line["loss"] for line in logged[-max(1, len(logged) // 10) :]) if logged else None,
        "machine": _machine(run),
    }


def count_parameters(config: Config) -> int:
    """How many numbers are trained."""
    format_ = FORMATS[config.format.kind].load()(config.format, TASKS[config.task.kind].load()(config.task))
    with torch.device("meta"):
        model = build_model(config, len(format_.vocabulary))
    return sum(parameter.numel() for parameter in model.parameters())


def error_rows(run: Run) -> list[Row]:
    """The error analysis of a run, if it was made: errors.json holds rows of errors.csv without the run."""
    path = run.path / "errors.json"
    if not path.exists():
        return []
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return [{column: row[column] for column in COLUMNS["errors"] if column != "run"} for row in rows]
    except (ValueError, TypeError, KeyError):
        raise UserError(f"{path}: damaged; remove it, or analyse the run again") from None


def _machine(run: Run) -> str:
    path = run.path / "environment.json"
    try:
        return str(json.loads(path.read_text(encoding="utf-8")).get("cpu", ""))
    except (OSError, ValueError):
        return ""  # a run from elsewhere may come without it


def _thinned(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """At most so many lines, evenly spaced, the last one among them."""
    step = -(-len(lines) // MOST_STEPS) if lines else 1
    return list(lines[::-1][::step])[::-1]
