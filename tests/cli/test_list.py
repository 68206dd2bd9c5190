"""`lengthlab list`: names, experiments with their cost, options with types and choices."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import get_args

import pytest

from lengthlab.cli.list import Axis
from lengthlab.config.axes import ATTENTIONS, SCHEDULES
from lengthlab.config.catalogue import catalogue
from lengthlab.paper.experiment import experiment_names

Command = Callable[..., tuple[int, str, str]]


def test_list_prints_names_and_descriptions(lengthlab: Command) -> None:
    encodings = json.loads(lengthlab("list", "encodings", "--json")[1])
    assert {"none", "fire"} <= {item["name"] for item in encodings}
    assert all(item.keys() == {"name", "description"} for item in encodings)
    assert "zhou2024-mini" in lengthlab("list")[1]


def test_all_that_can_be_listed_is_offered() -> None:
    assert {*get_args(Axis)} == {*catalogue(), "experiments", "options"}


def test_every_option_is_listed_with_a_description(lengthlab: Command) -> None:
    options = json.loads(lengthlab("list", "options", "--json")[1])
    names = {option["name"] for option in options}
    assert {
        "encoding.units",
        "format.spaces.probability",
        "model.loops",
        "training.optimizer.muon_rate",
        "seeds.test",
    } <= names
    assert not [option["name"] for option in options if not option["description"]]
    assert "format.hints" in lengthlab("list", "options")[1]


def test_output_cut_short_by_its_reader_is_no_error() -> None:
    done = subprocess.run(
        f"{sys.executable} -m lengthlab list options | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""


def test_experiments_are_listed_with_their_cost(lengthlab: Command) -> None:
    listed = json.loads(lengthlab("list", "experiments", "--json")[1])
    assert [entry["name"] for entry in listed] == [*experiment_names(), "all"]
    by_name = {entry["name"]: entry for entry in listed}
    assert by_name["encodings"]["paper"]["runs"] == 40 and by_name["encodings"]["smoke"]["seconds"] < 120
    together = by_name["all"]["mini"]["runs"]
    assert together < sum(entry["mini"]["runs"] for entry in listed[:-1])
    out = lengthlab("list", "experiments")[1]
    assert "position encoding: RoPE, KerpleLog, NoPE, FIRE" in out and f"{together}, " in out


def test_options_have_types_choices_and_ranges(lengthlab: Command) -> None:
    options = json.loads(lengthlab("list", "options", "--json")[1])
    types = {(option["name"], option.get("variant", "")): option["type"] for option in options}
    assert types["model.mask", ""] == "causal | prefix"
    assert types["model.tied", ""] == "true | false"
    assert types["model.dropout", ""] == "number from 0 below 1"
    assert types["model.logit_factor_at_test", ""] == "number above 0 or null"
    assert types["training.steps", ""] == "whole number from 1 to 100,000,000"
    assert types["evaluation.digits", ""] == "lengths, such as 1-20,50"
    assert types["evaluation.weights", ""] == "list of: last | best | ema"
    assert types["encoding.windows", "hard-alibi"] == "list of: whole number"
    assert types["training.schedule.kind", ""] == " | ".join(SCHEDULES.names())
    assert types["model.attention", ""] == " | ".join(ATTENTIONS.names())
    assert "rope" in types["encoding.kind", ""].split(" | ")
    assert not [option for option in options if option["name"] == "format.hints" and "variant" in option]  # all have it


def test_options_of_a_section(lengthlab: Command) -> None:
    names = [option["name"] for option in json.loads(lengthlab("list", "options", "training.schedule", "--json")[1])]
    assert len(names) > 3 and all(name.startswith("training.schedule.") for name in names)
    _, out, _ = lengthlab("list", "options", "model")
    assert "model.mask=causal  causal | prefix\n    prefix: the question sees itself both ways\n" in out
    assert "training." not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "encoding"], "encoding"),
        (["list", "options", "trainig"], "list options: no section 'trainig'; did you mean training?"),
        (["list", "recipes", "training"], "list recipes: only options have sections"),
    ],
)
def test_mistakes(arguments: list[str], message: str, lengthlab: Command) -> None:
    status, out, err = lengthlab(*arguments)
    assert status == 2 and out == "" and message in err and err.count("\n") == 1


def test_recipes_are_listed_with_what_they_are_given(lengthlab: Command) -> None:
    listed = json.loads(lengthlab("list", "recipes", "--json")[1])
    given = {recipe["name"]: recipe["given"] for recipe in listed}
    assert "attention logits are multiplied by 8 at test" in given["coupling-relative-robust"]
    out = lengthlab("list", "recipes")[1]
    assert "given: position ids tell each digit's place" in out and out.count("no tool and no loop") == 1
