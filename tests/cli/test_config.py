"""`lengthlab config`: all settings of a recipe or run."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from lengthlab.config.load import load_config

Command = Callable[..., tuple[int, str, str]]
MakeRun = Callable[..., Path]


def test_config_prints_a_recipe_that_means_the_same(lengthlab: Command, tmp_path: Path) -> None:
    status, out, err = lengthlab("config", "zhou2024-mini", "encoding=rope", "--seed", "3")
    assert status == 0 and err == ""
    file = tmp_path / "mine.yaml"
    file.write_text(out)
    config = load_config("zhou2024-mini", ["encoding=rope", "seed=3"])
    assert load_config(str(file)) == config
    assert (
        json.loads(lengthlab("config", str(file), "--json")[1]) == config.model_dump(mode="json") == yaml.safe_load(out)
    )


def test_config_of_a_run(make_run: MakeRun, lengthlab: Command) -> None:
    run = make_run("abcdef", {5: 1.0}, {"training.steps": 7})
    for name in ("abc", str(run)):
        assert yaml.safe_load(lengthlab("config", name)[1])["training"]["steps"] == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["config", "smok"], "no recipe, file or run 'smok'; did you mean smoke?"),
        (["config", "smoke", "training.stesp=3"], "training.stesp"),
        (["config", "smoke", "seed=1", "--seed", "2"], "--seed 2 and seed=1: give only one of them"),
    ],
)
def test_mistakes(arguments: list[str], message: str, lengthlab: Command, runs_folder: Path) -> None:
    status, out, err = lengthlab(*arguments)
    assert status == 2 and out == "" and message in err and err.count("\n") == 1
    assert not runs_folder.exists()
