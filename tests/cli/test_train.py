"""`lengthlab train` from end to end: every recipe, points of the grid, Ctrl-C, a finished run."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lengthlab.config.load import load_config
from lengthlab.config.presets import recipe_names
from lengthlab.runs.run import Run

Command = Callable[..., tuple[int, str, str]]
Interrupted = Callable[..., tuple[list[str], str]]
SMALL = (
    "model.layers=1",
    "model.width=16",
    "model.feedforward=16",
    "model.heads=2",
    "training.steps=2",
    "training.batch=2",
    "training.digits=2",
    "training.evaluate_every=0",
    "evaluation.digits=1-3",
    "evaluation.examples=3",
)


@pytest.mark.parametrize("recipe", recipe_names())
def test_every_recipe_shows_trains_and_evaluates(recipe: str, lengthlab: Command, runs_folder: Path) -> None:
    """At the smallest scale: the recipe's own tasks, formats, ids and encodings, with a model of a few weights."""
    packed = ("training.pack=100",) if load_config(recipe).training.pack else ()
    assert lengthlab("show", recipe, *SMALL)[0] == 0
    status, out, err = lengthlab("train", recipe, *SMALL, *packed, "--json")
    assert status == 0, err
    status, out, err = lengthlab("evaluate", json.loads(out)["run"], "--digits", "1-4", "--examples", "5", "--json")
    assert status == 0 and [row["digits"] for row in json.loads(out)] == [1, 2, 3, 4], err


@pytest.mark.parametrize(
    "overrides",
    [
        (
            "positions=digit-place",
            "encoding=learned",
            "also=[{positions: randomized, encoding: fire}]",
        ),  # Abacus with FIRE
        ("positions=coupled", "encoding=learned", "also=[{positions: sequential, encoding: rope}]"),
        ("encoding=shaw", "also=[{positions: coupled, encoding: clipped}, {positions: sequential, encoding: cope}]"),
        ("task=sort", "format.hints=0", "model.loops=2", "model.injection=true"),
        ("task.kind=addition", "task.operands=3", "format.kind=interleaved", "model.mask=prefix"),
        ("task=subtraction", "format.kind=scratchpad", "model.attention=stick-breaking"),
        ("task=parity", "format.hints=0", "model.log_scaling=learned"),
        ("evaluation.chain=2", "format.padding=none", "format.spaces.probability=0.2", "format.spaces.at_test=true"),
    ],
)
def test_points_of_the_grid_train_and_evaluate(overrides: tuple[str, ...], lengthlab: Command) -> None:
    status, out, err = lengthlab("train", "smoke", *SMALL, *overrides, "--json")
    assert status == 0, err
    assert lengthlab("show", "smoke", *overrides)[0] == 0
    assert lengthlab("evaluate", json.loads(out)["run"], "--json")[0] == 0


def test_rows_of_a_table_that_training_never_meets_are_pointed_out(lengthlab: Command) -> None:
    _, out, _ = lengthlab("train", "lee2023-mini", *SMALL)
    assert "learned encoding: training meets ids up to 10, the test up to 13; the rest stays untrained" in out
    _, out, _ = lengthlab("train", "coupling-mini", *SMALL)
    assert "untrained" not in out


def test_dry_run_writes_nothing(lengthlab: Command, runs_folder: Path) -> None:
    status, out, _ = lengthlab("train", "smoke", "--dry-run")
    assert status == 0 and "parameters" in out and "not started" in out
    cost = json.loads(lengthlab("train", "smoke", "--dry-run", "--json")[1])
    assert cost["parameters"] > 0 and cost["tokens"] > 0
    assert not runs_folder.exists()


def test_a_finished_run_is_not_trained_again(lengthlab: Command, runs_folder: Path) -> None:
    arguments = ("train", "smoke", "training.steps=2", "--threads", "1")
    assert lengthlab(*arguments)[0] == 0
    run = Run(next(runs_folder.iterdir()))
    before = run.status["time"]
    assert "is finished already; --fresh" in lengthlab(*arguments)[1]
    assert "is finished already, so --wandb had nothing to write;" in lengthlab(*arguments, "--wandb")[1]
    assert run.status["time"] == before
    status, out, _ = lengthlab(*arguments, "--fresh")
    assert status == 0 and f"{run.id}: step 2/2" in out
    assert run.status["time"] > before


@pytest.mark.slow
@pytest.mark.xdist_group("forks")
def test_ctrl_c_leaves_a_run_that_says_it_was_interrupted(interrupted: Interrupted, runs_folder: Path) -> None:
    settings = ("training.steps=5000", "training.log_every=1")
    _, err = interrupted("train", "smoke", *settings, until="exact match")
    run = Run(next(runs_folder.iterdir()))
    assert run.status["state"] == "interrupted"
    step, again = run.status["step"], f"train --resume {run.id}"
    assert err == f"lengthlab: interrupted at step {step} of 5000\nto resume: lengthlab {again}"
    (first, *_), _ = interrupted(*again.split(), until="resum")
    assert first == f"smoke {run.id}: resuming after step {step}"
    assert run.status["step"] >= step


def test_seed_is_short_for_all_three(lengthlab: Command) -> None:
    run = json.loads(lengthlab("train", "smoke", "--seed", "3", "seed=3", "--dry-run", "--json")[1])["run"]
    assert Path(run).name == load_config("smoke", ["seed=3"]).id
