"""Result tables with made-up but plausible numbers, for real experiments."""

import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from lengthlab.config.schema import Config
from lengthlab.paper.experiment import load_experiment, trials
from lengthlab.paper.scales import ScaleName
from lengthlab.paper.tables import write_tables
from lengthlab.report.page import build
from lengthlab.runs.columns import Row

REACH = {"rope": 1.1, "kerple-log": 1.3, "none": 1.5, "fire": 2.0}


def make_tables(folder: Path, experiments: Sequence[str], scale: ScaleName = "mini", step: int = 40) -> Path:
    """Tables of these experiments as if all their runs had finished, the same each time."""
    tables: dict[str, list[Row]] = {name: [] for name in ("members", "trials", "exact_match", "training")}
    tables |= {"evolution": [], "errors": []}
    done = set()
    for name in experiments:
        for planned in trials(load_experiment(name), scale):
            run = planned.config.id
            member = {"experiment": name, "setting": planned.setting, "seed": planned.seed, "run": run}
            tables["members"].append(member)
            if run not in done:
                done.add(run)
                for table, rows in make_run(run, planned.config, step).items():
                    tables[table] += [{"run": run} | row for row in rows]
    write_tables(folder, tables)
    return folder


def make_run(run: str, config: Config, step: int) -> dict[str, list[Row]]:
    draw = random.Random(run)
    trained = config.training.digits
    half = trained * REACH.get(config.encoding.kind, 1.0) * draw.uniform(0.8, 1.3)
    half *= 1.0 if getattr(config.format, "hints", 1) else 0.6

    def score(digits: int, learned: float = 1.0) -> float:
        return round(learned / (1 + math.exp((digits - half) / (0.05 * trained))), 3)

    training, evolution = [], []
    takeoff = draw.uniform(200, 600)
    for now in range(step, 1501, step):
        learned = 1 / (1 + (takeoff / now) ** 6)
        training.append(
            {"step": now, "loss": 2.3 * (1 - learned) + 1e-3 * draw.random(), "accuracy": 0.3 + 0.7 * learned}
        )
        if now % (5 * step) == 0:
            evolution += [
                {"step": now, "digits": digits, "exact_match": score(digits, learned) * draw.uniform(0.8, 1)}
                for digits in config.training.evaluate_digits
            ]
    facts = {
        "state": "finished",
        "encoding": config.encoding.kind,
        "parameters": 600_000,
        "trained_digits": trained,
        "steps": 1500,
        "seconds": 300.0,
        "final_loss": training[-1]["loss"],
        "machine": "AMD EPYC",
    }
    tested = [
        {
            "weights": "last",
            "chain": 0,
            "digits": digits,
            "examples": 500,
            "exact_match": score(digits),
            "low": max(0.0, score(digits) - 0.02),
            "high": min(1.0, score(digits) + 0.02),
        }
        for digits in config.evaluation.digits
    ]
    return {
        "trials": [facts],
        "exact_match": tested,
        "training": training,
        "evolution": evolution,
        "errors": make_errors(draw),
    }


def make_errors(draw: random.Random) -> list[Row]:
    ratio = draw.uniform(0.1, 0.4)
    shifts, fifths = ("-1", "0", "+1"), ("lowest fifth", "middle fifth", "highest fifth")
    measures: dict[str, dict[str, float]] = {
        "carry": {"wrong digits": draw.uniform(0.4, 0.6), "all digits at the same places": 0.48},
        "counts": {str(wrong): (1 - ratio) * ratio ** (wrong - 1) for wrong in range(1, 6)},
        "marks": {"ends too early": draw.random() / 2, "wrong digit": 0.9},
        "shifts": {key: draw.uniform(0.05, 0.3) for key in shifts},
        "shifts base": dict.fromkeys(shifts, 0.11),
        "fifths": {key: draw.uniform(0.1, 0.3) for key in fifths},
        "fifths base": dict.fromkeys(fifths, 0.2),
    }
    return [
        {"digits": 0, "examples": 100, "wrong": 40, "measure": measure, "key": key, "value": value}
        for measure, shares in measures.items()
        for key, value in shares.items()
    ]


@pytest.fixture
def tables() -> Callable[..., Path]:
    return make_tables


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of three experiments, one with data orders for seeds, one with an analysis of errors."""
    folder = tmp_path_factory.mktemp("tables") / "results" / "smoke"
    return make_tables(folder, ["index-hints", "init-vs-order", "errors"], "smoke", step=100)


@pytest.fixture(scope="session")
def page(results: Path) -> str:
    return build(results)
