"""`lengthlab quickstart`: trains, draws, and is honest."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lengthlab.runs.run import Run

Command = Callable[..., tuple[int, str, str]]
Interrupted = Callable[..., tuple[list[str], str]]


@pytest.mark.slow
def test_quickstart_trains_side_by_side_draws_and_is_honest(lengthlab: Command, runs_folder: Path) -> None:
    status, out, _ = lengthlab(
        "quickstart", "training.digits=2", "evaluation.digits=1-4", "--recipes", "smoke", "--seeds", "1,2"
    )
    assert status == 1  # neither seed learned anything in 20 steps, and it says so
    assert out.count("FAILED: it did not learn its training lengths") == 2
    assert (runs_folder / "quickstart.png").exists() and (runs_folder / "quickstart.svg").exists()
    assert "What to try next" in out and "seed 1" in out and "seed 2" in out
    assert {run.status["state"] for run in map(Run, runs_folder.glob("*/"))} == {"finished"}


@pytest.mark.slow
@pytest.mark.xdist_group("forks")
def test_ctrl_c_prints_the_command_that_resumes(interrupted: Interrupted, runs_folder: Path) -> None:
    command = ("training.steps=1000000", "also=[]", "--recipes", "smoke")
    _, err = interrupted("quickstart", *command, until="step 10/1000000")
    again = "lengthlab quickstart training.steps=1000000 'also=[]' --recipes smoke"
    assert err == f"lengthlab: interrupted; 0 of 1 runs are finished\nto resume: {again}"
    assert Run(next(runs_folder.iterdir())).status["state"] == "interrupted"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["seed=4"], "seed=4: quickstart takes its seeds from --seeds"),
        (["seeds.data=4", "--seed", "1"], "seeds.data=4: quickstart takes its seeds from --seeds"),
        (["--seed", "1", "--seeds", "2"], "--seed and --seeds: give only one of them"),
        (["--seed", "-1"], "--seed: at least 0"),
        (["--recipes", "smok"], "no recipe or file 'smok'"),
        (["--seeds", "x"], "--seeds: 'x' is not a number"),
        (["format.hints=1"], "format.hints: 1 hints cannot mark"),
    ],
)
def test_mistakes(arguments: list[str], message: str, lengthlab: Command, runs_folder: Path) -> None:
    status, out, err = lengthlab("quickstart", *arguments)
    assert status == 2 and out == "" and message in err and err.count("\n") == 1
    assert not runs_folder.exists()
