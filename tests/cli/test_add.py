"""`lengthlab add`: with the model in the box, with a run, again and again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., tuple[int, str, str]]


def test_asks_a_run(trained: Path, lengthlab: Command) -> None:
    status, out, _ = lengthlab("add", str(trained), "12", "7", "--json")
    answer = json.loads(out)
    assert status == 0 and answer["truth"] == "19" and answer["prompt"].endswith("=")
    assert answer["correct"] == (answer["answer"] == "19")
    assert "the sum is 19" in lengthlab("add", str(trained), "12", "7")[1]  # the smoke recipe learns nothing


def test_works_without_a_run(lengthlab: Command, runs_folder: Path) -> None:
    status, out, err = lengthlab("add", "31415926", "27182818")
    assert status == 0 and "31415926 + 27182818 = 58598744\ncorrect" in out, err
    assert not runs_folder.exists()


def test_a_shipped_model_by_name(lengthlab: Command) -> None:
    status, out, _ = lengthlab("add", "paper", "12", "34", "--json")
    assert status == 0 and json.loads(out)["answer"] == "46"


@pytest.mark.xdist_group("forks")
def test_asks_again_until_an_empty_line(python: Any) -> None:
    typed = "12 7\n999 + 1\nnonsense here\n1 2 3\n\n5 5\n"
    done = python.run("-m", "lengthlab", "add", typed=typed)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "12 + 7 = 19; correct",
        "999 + 1 = 1000; correct",
        "'nonsense' is not a number of decimal digits",
        "give two numbers; these are 3",
    ]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["1", "2", "3", "4"], "two numbers"),
        (["robust", "5"], "name two numbers after it"),
        (["12a", "7b"], "'12a' is not a number of decimal digits"),
        (["nothing", "1", "2"], "no run 'nothing'"),
        (["--json"], "--json needs two numbers"),
        (["fragile", "1" * 50, "7"], "reads numbers of at most 31 digits, and one of these has 50"),
        (["1" * 3000, "7"], "reads numbers of at most 2000 digits"),
    ],
)
def test_mistakes(lengthlab: Command, words: list[str], sentence: str) -> None:
    status, _, err = lengthlab("add", *words)
    assert status == 2 and sentence in " ".join(err.split())
