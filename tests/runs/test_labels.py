"""Runs are labelled by what tells them apart, their recipes first."""

from lengthlab.runs.columns import Row
from lengthlab.runs.labels import run_labels, setting_labels


def config(encoding: str = "fire", seed: int = 1, **settings: object) -> Row:
    kinds = {"encoding": {"kind": encoding}, "positions": {"kind": "sequential"}}
    return kinds | {"seeds": {"weights": seed}} | settings


def test_runs_of_one_recipe_are_labelled_without_it() -> None:
    assert run_labels([config(), config("rope")], ["a", "b"], ["mini", "mini"]) == ["FIRE, seed 1", "RoPE, seed 1"]
    assert run_labels([config()], ["a"], ["mini"]) == run_labels([config()], ["a"], [""]) == ["FIRE, seed 1"]


def test_the_recipe_comes_first_where_there_are_several() -> None:
    configs = [config(), config(batch=8), config("rope", batch=9)]
    labels = run_labels(configs, ["a", "b", "c"], ["mini", "quick", ""])
    assert labels == ["mini, FIRE, seed 1", "quick, FIRE, seed 1", "RoPE, seed 1"]
    labels = run_labels(configs, ["a", "b", "c"], ["mini", "mini", "quick"])
    assert labels == ["mini, FIRE, batch None, seed 1", "mini, FIRE, batch 8, seed 1", "quick, RoPE, seed 1"]


def test_a_setting_that_was_started_from_files_of_two_names_is_one_setting() -> None:
    one, other = config(), config(batch=8)
    assert setting_labels([one, one, other], ["mini", "config", "quick"]) == ["mini, FIRE", "mini, FIRE", "quick, FIRE"]
    assert setting_labels([one, one], ["mini", "config"]) == ["FIRE", "FIRE"]
