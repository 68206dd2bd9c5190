"""`lengthlab config` and `lengthlab diff`: all settings of a recipe or run, and those in which two differ."""

import json
from collections.abc import Callable
from itertools import pairwise
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


def test_diff_shows_what_differs_and_nothing_else(make_run: MakeRun, lengthlab: Command) -> None:
    make_run("abcdef", {5: 1.0}, {"training.steps": 7, "evaluation.digits": [1, 2, 3, 9]})
    rows = json.loads(lengthlab("diff", "smoke", "abcdef", "--json")[1])
    assert [row["name"] for row in rows] == ["training.steps", "evaluation.digits"]
    assert (rows[0]["a"], rows[0]["b"]) == (20, 7)
    _, out, _ = lengthlab("diff", "smoke", "abcdef")
    assert "1-3,9" in out and "training.batch" not in out
    assert lengthlab("diff", "smoke", "smoke")[1] == "smoke and smoke have the same settings\n"
    variants = json.loads(lengthlab("diff", "smoke", "coupling-mini", "--json")[1])
    sections = [row["name"].partition(".")[0] for row in variants]
    assert "positions.symbols" in [row["name"] for row in variants]  # an option of the second alone, beside its like
    assert [one for one, after in pairwise(sections) if one != after] + sections[-1:] == list(dict.fromkeys(sections))
    words = lengthlab("diff", "smoke", "coupling-mini")[1].split()
    assert "true" in words and not {"True", "False", "None"} & set(words)  # as they are typed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["config", "smok"], "no recipe, file or run 'smok'; did you mean smoke?"),
        (["config", "smoke", "training.stesp=3"], "training.stesp"),
        (["config", "smoke", "seed=1", "--seed", "2"], "--seed 2 and seed=1: give only one of them"),
        (["diff", "smoke", ""], "no recipe, file or run ''"),
    ],
)
def test_mistakes(arguments: list[str], message: str, lengthlab: Command, runs_folder: Path) -> None:
    status, out, err = lengthlab(*arguments)
    assert status == 2 and out == "" and message in err and err.count("\n") == 1
    assert not runs_folder.exists()
