"""The recipes that come with lengthlab, and files that are none."""

from pathlib import Path

import pytest
import yaml

from lengthlab.config.checks import check
from lengthlab.config.load import load_config
from lengthlab.config.presets import recipe_description, recipe_names
from lengthlab.errors import UserError


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_resolves_and_survives_a_round_trip(name: str, tmp_path: Path) -> None:
    config = load_config(name)
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(config.model_dump(mode="json")))
    again = load_config(str(file))
    assert again == config and again.id == config.id
    assert recipe_description(name)


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_passes_its_checks(name: str) -> None:
    check(load_config(name))


def test_an_unknown_recipe_names_the_nearest() -> None:
    with pytest.raises(UserError, match=r"no recipe or file 'smok'; did you mean smoke\?"):
        load_config("smok")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: [1, 2", "not valid YAML"),
        (b"- just\n- a list", "a recipe is a YAML mapping"),
        (b"\xff\xfe\x00binary", "not a YAML text file"),
        (b"", "a recipe is a YAML mapping"),
        (b"!!python/object/apply:os.system ['true']", "not valid YAML"),
    ],
)
def test_files_that_are_no_recipes_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "broken.yaml"
    file.write_bytes(content)
    with pytest.raises(UserError, match=message):
        load_config(str(file))


def test_zhou2024_carries_the_paper_s_values() -> None:
    """The table of hyperparameters in the paper's appendix on training, and its section on data."""
    config = load_config("zhou2024")
    training, model = config.training, config.model
    assert (model.layers, model.width, model.feedforward, model.heads) == (6, 512, 2048, 8)
    assert (model.mask, model.dropout, model.logit_factor, model.loops) == ("causal", 0.0, 1.0, 1)
    optimizer = training.optimizer.model_dump()
    assert (optimizer["kind"], optimizer["rate"], optimizer["weight_decay"]) == ("adamw", 3e-4, 0.1)
    assert (training.steps, training.batch, training.pack) == (50_000, 128, 2048)
    assert (training.schedule.warmup, training.schedule.final, training.growth) == (500, 0.1, 0.0)
    assert (training.digits, max(config.evaluation.digits), config.evaluation.examples) == (40, 100, 1000)
    written = config.format.model_dump()
    assert (written["kind"], written["order"], written["hints"], written["padding"]) == (
        "equation",
        "reversed",
        102,
        "carry",
    )
    encoding = config.encoding.model_dump()
    assert (encoding["kind"], encoding["units"], encoding["shared"]) == ("fire", 32, True)
    assert config.positions.kind == "randomized"


@pytest.mark.parametrize(
    ("name", "encoding", "positions", "order", "hints", "spaces"),
    [
        ("lee2023", "learned", "sequential", "answer-reversed", False, False),
        ("kazemnejad2023", "none", "sequential", "reversed", False, False),
        ("shen2023", "learned", "sequential", "reversed", False, True),
        ("zhou2023", "none", "sequential", "reversed", True, False),
        ("zhou2024", "fire", "randomized", "reversed", True, False),
    ],
)
@pytest.mark.parametrize("scale", ["", "-mini"])
def test_the_five_systems(
    name: str, encoding: str, positions: str, order: str, hints: bool, spaces: bool, scale: str
) -> None:
    """The paper's table of position encodings and data formats."""
    config, base = load_config(name + scale), load_config("zhou2024" + scale)
    written = config.format.model_dump()
    assert (config.encoding.kind, config.positions.kind, written["order"]) == (encoding, positions, order)
    assert (written["hints"] > 0, written["spaces"]["probability"] > 0) == (hints, spaces)
    assert config.training == base.training and config.model == base.model


@pytest.mark.parametrize(
    "name", [name for name in recipe_names() if name.endswith("-laptop") and not name.startswith("experiment-")]
)
def test_systems_for_a_laptop_have_one_budget(name: str) -> None:
    """They are compared with each other, so only what the systems are about differs. (Experiments have their own.)"""
    shared = {"task", "model", "training", "evaluation", "seeds"}
    assert load_config(name).model_dump(include=shared) == load_config("zhou2024-laptop").model_dump(include=shared)
