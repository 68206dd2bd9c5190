"""Ids are promises: a run is found again by the hash of its settings, whatever lengthlab looks like by then."""

from pathlib import Path

import pytest
import yaml

from lengthlab.config.load import load_config, validate
from lengthlab.config.schema import Config

IDS: dict[str, str] = yaml.safe_load(Path(__file__).with_name("ids.yaml").read_text())


@pytest.mark.parametrize("settings", IDS)
def test_an_id_is_what_it_was(settings: str) -> None:
    recipe, *overrides = settings.split(" ")
    assert load_config(recipe, overrides).id == IDS[settings]


def test_the_id_is_a_hash_of_everything_that_matters() -> None:
    base = load_config("smoke")
    assert base.id == load_config("smoke").id
    changed = [
        load_config("smoke", [o]).id
        for o in ("training.steps=21", "seeds.test=1", "encoding.shared=false", "also=[{encoding: none}]")
    ]
    assert len({base.id, *changed}) == 5
    assert base.id == load_config("smoke", ["training.steps=20"]).id


def test_the_defaults_are_a_config() -> None:
    assert validate({}) == Config()
