"""`lengthlab runs --over-seeds`: settings by name, with what their seeds say together."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lengthlab.cli.over_seeds import FEW, names_of

MakeRun = Callable[..., Path]
Command = Callable[..., tuple[int, str, str]]


def test_over_seeds(several: None, lengthlab: Command) -> None:
    """fire: 1, 0.97, 0.88, 0.86, 0.71 at 6 digits and half of that at 9; rope: 0.65, 0.5, 0.41, 0.3, 0.2."""
    fire, rope = json.loads(lengthlab("runs", "--over-seeds", "--digits", "6,9", "--json")[1])
    assert fire["differs_in"] == {"encoding": "fire"} and rope["differs_in"] == {"encoding": "rope"}
    assert fire["runs_without_evaluation"] == 1 and fire["runs"] == [f"fire{seed}" for seed in range(5)]
    at_six, at_nine = fire["lengths"]
    assert at_six["seeds"] == {"0": 1.0, "1/0/0": 0.97, "2/0/0": 0.88, "3/0/0": 0.71, "4/0/0": 0.86}
    assert (at_six["n"], at_six["mean"], at_six["median"]) == (5, pytest.approx(0.884), 0.88)
    assert (at_six["best"], at_six["worst"]) == (1.0, 0.71)
    assert (at_six["share_90"], at_six["share_95"], at_six["share_99"]) == (0.4, 0.4, 0.2)
    assert at_six["low"] < 0.884 < at_six["high"] and at_nine["best"] == 0.5
    factor = fire["generalization_factor"]  # trained on 3 digits: two seeds reach 6, three stay at 3
    assert (factor["n"], factor["median"], factor["best"], factor["worst"]) == (5, 1.0, 2.0, 1.0)
    assert rope["generalization_factor"]["best"] == 1.0
    lower = json.loads(lengthlab("runs", "--over-seeds", "--threshold", "0.5", "--json")[1])
    factor = lower[0]["generalization_factor"]
    assert (factor["threshold"], factor["best"], factor["passed_every_test"]) == (0.5, 3.0, 1)


def test_over_seeds_as_tables(several: None, lengthlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    _, out, _ = lengthlab("runs", "--over-seeds")
    lines = [line.split() for line in out.splitlines()]
    six = next(line for line in lines if line[:2] == ["6", "fire"])
    assert six[2] == "88%" and six[-5:] == ["88%", "100%", "71%", "5", "2/2/1"]
    assert "2 settings, 10 of 11 runs; 1 left out" in out and "trained on 1-3 digits" in out
    table = out.partition("2 settings")[0].splitlines()
    assert max(map(len, table)) <= 100
    rows = list(csv.DictReader(io.StringIO(lengthlab("runs", "--over-seeds", "--csv")[1])))
    assert [(row["encoding"], row["digits"], row["n"]) for row in rows][:2] == [("fire", "3", "5"), ("fire", "6", "5")]
    assert rows[0]["factor_best"] == "2.0"
    assert "none of them has an evaluation" in lengthlab("runs", "id = 'late'", "--over-seeds")[1]


def test_long_names_stand_above_the_tables(
    make_run: MakeRun, lengthlab: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 80 columns the numbers stay whole and so do the names; where there is room, names stand in the table."""
    make_run("a", {5: 1.0}, {"training.schedule.final": 0.25, "training.schedule.warmup": 1})
    make_run("b", {5: 0.5}, {"training.schedule.final": 0.25, "training.schedule.warmup": 2})
    make_run("c", {5: 0.5}, {"training.schedule.final": 0.5, "training.schedule.warmup": 2})
    monkeypatch.setenv("COLUMNS", "80")
    lines = lengthlab("runs", "--over-seeds")[1].splitlines()
    assert lines[0] == " 1  training.schedule.final 0.25, training.schedule.warmup 1"
    assert [line.split()[:3] for line in lines if line.startswith("5 ")] == [
        ["5", "1", "100%"], ["5", "2", "50%"], ["5", "3", "50%"],
    ]  # fmt: skip
    monkeypatch.setenv("COLUMNS", "140")
    assert "training.schedule.warmup  mean" in lengthlab("runs", "--over-seeds")[1]


def test_settings_that_differ_in_much_are_named_by_little(make_run: MakeRun, lengthlab: Command) -> None:
    """Two runs of recipes that differ in everything: a few lines, not hundreds."""
    every = {"training.growth": 0.25, "training.steps": 9, "training.batch": 3, "format.hints": 0, "model.layers": 3}
    make_run("a", {5: 1.0}, {"encoding": {"kind": "rope"}} | every)
    make_run("b", {5: 0.5}, {"encoding": {"kind": "fire"}})
    _, out, _ = lengthlab("runs", "--over-seeds")
    assert len(out.splitlines()) < 25 and "rope" in out and "fire" in out
    assert "they differ in 5 more settings than shown: lengthlab diff a b" in out


def test_groups_are_named_by_recipe_and_by_what_tells_them_apart() -> None:
    def group(setting: str, recipe: str | None, **differs: object) -> dict:
        return {"setting": setting, "recipe": recipe, "differs_in": differs}

    named = names_of([group("h1", "x", layers=1, rate=1), group("h2", "y", layers=2, rate=1)])
    assert named == (["recipe"], [["x"], ["y"]])
    named = names_of([group("h1", "x", layers=1, rate=1), group("h2", "x", layers=2, rate=1)])
    assert named == (["layers"], [["1"], ["2"]])
    mixed = [group("h1", "x", rate=1, heads=1), group("h2", "x", rate=2, heads=1), group("h3", "y", rate=1, heads=1)]
    assert names_of(mixed) == (["recipe", "rate"], [["x", "1"], ["x", "2"], ["y", "1"]])
    assert names_of([group("h1", "x")]) == (["setting"], [["h1"]])
    many = [group(f"h{index}", None, **{f"s{bit}": index >> bit & 1 for bit in range(5)}) for index in range(32)]
    heads, cells = names_of(many)
    assert heads[0] == "setting" and len(heads) == FEW + 1 and len({tuple(row) for row in cells}) == 32
