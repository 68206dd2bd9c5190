"""From run folders to tables: what is read, what is kept, what is left out."""

import json
from pathlib import Path
from typing import Any

import pytest

from lengthlab.errors import UserError
from lengthlab.paper.collect import MOST_STEPS, collect, rows_of
from lengthlab.paper.experiment import Experiment, Planned, load_experiment, trials
from lengthlab.paper.scales import SCALE_NAMES, ScaleName
from lengthlab.paper.tables import COLUMNS, Member, Results
from lengthlab.runs.run import Run

SEEDS = [1, 2]
PUBLISHED = Path(__file__).parents[2] / "results"


def finish(planned: Planned, exact_match: float = 0.5, steps: int = 20) -> Run:
    """A finished run without its weights, written as training writes it."""
    run, config = Run.of(planned.config), planned.config
    run.begin(config, {"cpu": "abacus"})
    for step in range(1, steps + 1):
        run.log({"step": step, "loss": 1 / step, "accuracy": 0.5, "examples": 8 * step, "tokens": 100 * step})
        run.log_speed(step, 50.0)
    run.log({"step": steps, "exact_match": {"2": 1.0, "4": exact_match}})
    row = {"examples": 16, "low": 0.0, "high": 1.0, "weights": "last"}
    run.save_evaluation([{"digits": digits, "exact_match": exact_match} | row for digits in config.evaluation.digits])
    run.set_status("finished", step=steps)
    return run


@pytest.fixture
def experiment() -> Experiment:
    return load_experiment("seeds")


def test_all_tables_of_a_run(experiment: Experiment, tmp_path: Path) -> None:
    first, second = trials(experiment, "smoke", SEEDS)
    run = finish(first)
    errors = [{"digits": 5, "examples": 16, "wrong": 8, "measure": "counts", "key": "1", "value": 0.75}]
    (run.path / "errors.json").write_text(json.dumps(errors))
    results = collect([experiment], "smoke", tmp_path)
    assert results.members("seeds") == [Member("FIRE", 1, run.id)]  # the other seed is not finished
    trial = results.trial(run.id)
    expected: dict[str, Any] = {
        "state": "finished", "encoding": "fire", "positions": "sequential", "format": "equation", "hints": 32,
        "order": "reversed", "spaces": 0, "mask": "causal", "layers": 1, "width": 32, "parameters": 13_604,
        "rate": 0.002, "trained_digits": 3, "steps": 20, "examples": 160, "tokens": 2000, "seed_weights": 1,
        "seed_data": 0, "seconds": 40, "machine": "abacus",
    }  # fmt: skip
    assert trial["final_loss"] == pytest.approx((1 / 19 + 1 / 20) / 2, abs=1e-6)
    assert {key: trial[key] for key in expected} == expected
    assert [row["digits"] for row in results.exact_match(run.id)] == [1, 2, 3, 4, 5]
    assert len(results.training(run.id)) == 20 and results.training(run.id)[-1]["loss"] == 0.05
    assert [(row["digits"], row["exact_match"]) for row in results.evolution(run.id)] == [(2, 1), (4, 0.5)]
    assert [row["value"] for row in results.errors(run.id)] == [0.75]
    finish(second)
    assert [member.seed for member in collect([experiment], "smoke", tmp_path).members("seeds")] == [1, 2]


def test_long_runs_are_thinned_out_and_keep_their_end(experiment: Experiment) -> None:
    rows = rows_of(finish(trials(experiment, "smoke", [1])[0], steps=3 * MOST_STEPS + 1))["training"]
    assert len(rows) <= MOST_STEPS and rows[-1]["step"] == 3 * MOST_STEPS + 1


def test_rows_of_runs_elsewhere_are_kept(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = trials(experiment, "smoke", SEEDS)
    finish(first, 0.25)
    collect([experiment], "smoke", tmp_path / "tables")
    monkeypatch.setenv("LENGTHLAB_RUNS", str(tmp_path / "another machine"))
    finish(second)
    results = collect([experiment], "smoke", tmp_path / "tables")
    assert [member.seed for member in results.members("seeds")] == [1, 2]
    assert results.exact_match(first.config.id)[0]["exact_match"] == 0.25
    before = {table: (tmp_path / "tables" / f"{table}.csv").read_bytes() for table in COLUMNS}
    collect([experiment], "smoke", tmp_path / "tables")
    assert {table: (tmp_path / "tables" / f"{table}.csv").read_bytes() for table in COLUMNS} == before


def test_seeds_beyond_the_declared_ones_stay(experiment: Experiment, tmp_path: Path) -> None:
    (ninth,) = trials(experiment, "smoke", [9])
    finish(ninth)
    assert collect([experiment], "smoke", tmp_path).members("seeds") == []
    assert [member.seed for member in collect([experiment], "smoke", tmp_path, [9]).members("seeds")] == [9]
    assert [member.seed for member in collect([experiment], "smoke", tmp_path).members("seeds")] == [9]


def test_runs_of_an_older_base_are_left_out(experiment: Experiment, tmp_path: Path) -> None:
    changed = experiment.model_copy(update={"overrides": {"training.steps": 21}})
    old, new = trials(experiment, "smoke", [1])[0], trials(changed, "smoke", [1])[0]
    finish(old)
    collect([experiment, load_experiment("encodings")], "smoke", tmp_path)
    finish(new)
    results = collect([changed], "smoke", tmp_path)
    assert [member.run for member in results.members("seeds")] == [new.config.id]
    assert results.trial(old.config.id)  # encodings still has it
    assert results.experiments() == ["encodings", "seeds"]
    lines = (tmp_path / "members.csv").read_text().splitlines(keepends=True)
    (tmp_path / "members.csv").write_text("".join(line for line in lines if not line.startswith("encodings")))
    with pytest.raises(UserError, match="no run"):
        collect([changed], "smoke", tmp_path).trial(old.config.id)


def test_a_shared_run_is_one_row(tmp_path: Path) -> None:
    experiments = [load_experiment("seeds"), load_experiment("encodings")]
    run = finish(trials(experiments[0], "smoke", [1])[0])
    results = collect(experiments, "smoke", tmp_path)
    assert [results.members(name) for name in ("encodings", "seeds")] == [[Member("FIRE", 1, run.id)]] * 2
    assert (tmp_path / "trials.csv").read_text().count(run.id) == 1
    assert len(Results(tmp_path).exact_match(run.id)) == 5


@pytest.mark.parametrize("scale", [scale for scale in SCALE_NAMES if (PUBLISHED / scale / "members.csv").exists()])
def test_the_stored_tables_come_out_again_byte_by_byte(scale: ScaleName, tmp_path: Path) -> None:
    """Their runs are not here: each row is kept only if the experiment, as it is today, plans a run of that very id."""
    stored = PUBLISHED / scale
    before = {table: (stored / f"{table}.csv").read_bytes() for table in COLUMNS}
    for table, content in before.items():
        (tmp_path / f"{table}.csv").write_bytes(content)
    collect([load_experiment(name) for name in Results(stored).experiments()], scale, tmp_path)
    changed = [table for table, content in before.items() if (tmp_path / f"{table}.csv").read_bytes() != content]
    assert not changed  # names alone: pytest would look for minutes for the differences of two long tables


@pytest.mark.parametrize("damaged", ["{", '{"digits": 1}', '[{"digits": 1}]', "3"])
def test_a_damaged_error_analysis_is_named(damaged: str, experiment: Experiment, tmp_path: Path) -> None:
    run = finish(trials(experiment, "smoke", [1])[0])
    (run.path / "errors.json").write_text(damaged)
    with pytest.raises(UserError, match=r"errors\.json: damaged"):
        collect([experiment], "smoke", tmp_path)
    assert not list(tmp_path.glob("*.csv"))
