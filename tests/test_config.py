"""Recipes, overrides and the messages for mistakes."""

from pathlib import Path

import pytest
import yaml

from lengthlab.checks import check
from lengthlab.commands.options import all_options
from lengthlab.config import Config
from lengthlab.errors import UserError
from lengthlab.recipes.load import load_config, validate
from lengthlab.recipes.names import recipe_description, recipe_names


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_resolves_and_survives_a_round_trip(name: str, tmp_path: Path) -> None:
    config = load_config(name)
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(config.model_dump(mode="json")))
    again = load_config(str(file))
    assert again == config and again.id == config.id
    assert recipe_description(name)


def test_overrides_take_dotted_keys_and_short_forms() -> None:
    config = load_config("zhou2024-mini", ["training.steps=7", "encoding.units=8", "seed=5", "evaluation.digits=3-5,9"])
    dumped = config.model_dump()
    assert dumped["training"]["steps"] == 7
    assert dumped["encoding"]["units"] == 8
    assert dumped["seeds"] == {"weights": 5, "data": 5, "sampling": 5, "test": 0}
    assert config.evaluation.digits == (3, 4, 5, 9)
    assert load_config("smoke", ["model=2M"]).model.width == 256
    assert load_config("smoke", ["model=2M", "model.layers=7"]).model.layers == 7
    shaped = load_config("zhou2024-mini", ["model.tied=true", "model=2M"]).model
    assert (shaped.feedforward, shaped.tied) == (1024, True)  # the recipe's own feed-forward width went with its size
    assert load_config("smoke", ["training.optimizer.rate=1e-3"]).model_dump()["training"]["optimizer"]["rate"] == 1e-3


def test_another_kind_starts_its_section_afresh() -> None:
    config = load_config("zhou2024-mini", ["positions.kind=sequential"])
    assert config.positions.model_dump() == {"kind": "sequential"}  # the recipe's maximum went with its kind
    schedule = load_config("zhou2024-mini", ["training.schedule.kind=constant"]).training.schedule
    assert (schedule.kind, schedule.warmup) == ("constant", 50)  # a schedule's kind is a setting like any other


@pytest.mark.parametrize(
    "overrides", [["encoding.rows=64", "encoding.kind=learned"], ["encoding=learned", "encoding.rows=64"]]
)
def test_the_order_of_overrides_does_not_matter(overrides: list[str]) -> None:
    assert load_config("zhou2024-mini", overrides).encoding.model_dump()["rows"] == 64
    with pytest.raises(UserError, match=r"encoding\.units: no such key"):
        load_config("zhou2024-mini", ["encoding.units=3", *overrides])  # told, not silently dropped


def test_explicit_seeds_win_over_the_short_form() -> None:
    for overrides in (["seed=3", "seeds.weights=1"], ["seeds.weights=1", "seed=3"]):
        seeds = load_config("smoke", overrides).seeds
        assert (seeds.weights, seeds.data, seeds.sampling, seeds.test) == (1, 3, 3, 0)


@pytest.mark.parametrize("recipe", ["smoke", "zhou2024"])
def test_every_listed_option_can_be_set_by_its_dotted_name(recipe: str) -> None:
    for option in all_options():
        name, value = option["name"], option["default"]
        section, variant = name.rpartition(".")[0].removesuffix(".spaces"), option.get("variant", "").split(", ")[0]
        chosen = [f"{section}.kind={variant}"] if variant else []
        load_config(recipe, [*chosen, f"{name}={value}"])
    assert load_config(recipe, ["task.operands=3"]).task.model_dump()["operands"] == 3


def test_the_id_is_a_hash_of_everything_that_matters() -> None:
    base = load_config("smoke")
    assert base.id == load_config("smoke").id
    changed = [
        load_config("smoke", [o]).id
        for o in ("training.steps=21", "seeds.test=1", "encoding.shared=false", "also=[{encoding: none}]")
    ]
    assert len({base.id, *changed}) == 5
    assert base.id == load_config("smoke", ["training.steps=20"]).id


def test_extends_states_only_the_difference(tmp_path: Path) -> None:
    child = tmp_path / "mine.yaml"
    child.write_text("extends: zhou2024-mini\nencoding: none\ntraining: {steps: 3}\n")
    mine, base = load_config(str(child)), load_config("zhou2024-mini")
    assert mine.encoding.kind == "none" and mine.training.steps == 3
    assert mine.training.batch == base.training.batch
    child.write_text(f"extends: {child}\n")
    with pytest.raises(UserError, match="extends itself"):
        load_config(str(child))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("training.stesp=3", "training.stesp: no such key; did you mean steps?"),
        ("encoding=fyre", "encoding.kind: no such encoding; did you mean fire?"),
        ("encoding.unit=3", "encoding.unit: no such key; did you mean units?"),
        (
            "also=[{encoding: fire, positions: randomised}]",
            "also.0.positions.kind: no such positions; did you mean randomized?",
        ),
        ("model.heads=3", "model.heads: 3 heads do not divide the width 32; the nearest number that does is 2 (got 3)"),
        ("model.size=26M", "model.size: no such size; did you mean 268M?"),
        ("training.steps=0", "training.steps: should be greater than or equal to 1 (got 0)"),
        (
            "training.steps=many",
            "training.steps: should be a valid integer, unable to parse string as an integer (got 'many')",
        ),
        ("training.clip=nan", "training.clip: should be a finite number"),
        ("training.digits=0", "training.digits: should be greater than or equal to 1 (got 0)"),
        (
            "evaluation.digits=0-5",
            "evaluation.digits: '0-5' must go upwards from at least 1 to at most 100,000 (got '0-5')",
        ),
        (
            "format.order=backwards",
            "format.order: should be 'reversed', 'standard' or 'answer-reversed' (got 'backwards')",
        ),
        ("encoding={kind: learned, shared: false}", "encoding.shared: a table of embeddings acts once"),
        ("encoding={kind: rope, factor: 2}", "encoding.scaling: a factor above 1 needs one of linear, ntk, yarn"),
        ("model={attention: stick-breaking, mask: prefix}", "model.mask: stick-breaking attention looks back only"),
        ("format.spaces.probability=1", "format.spaces.probability: should be less than 1 (got 1)"),
        ("training=3", "training: should be a section such as {key: value} (got 3)"),
        ("encoding=[1]", "encoding: should be a section such as {key: value} (got [1])"),
        ("also=3", "also: should be a list such as [a, b] (got 3)"),
        ("model=", "model: should be a section such as {key: value} (got None)"),
        ("seed=x", "seed: should be a whole number from 0 on (got 'x')"),
        ("seed=-1", "seed: should be a whole number from 0 on (got -1)"),
        ("sede=1", "sede: no such key; did you mean seed?"),
        (".=3", "'.=3' is not of the form key=value"),
        ("training.steps=yes", "training.steps: should be a number (got True)"),
        ("format.padding=x", "format.padding: should be 'carry', 'longer' or 'none' (got 'x')"),
        ("evaluation.digits=[]", "evaluation.digits: should have at least 1 item"),
        (
            "evaluation.digits=1-9999999999",
            "evaluation.digits: '1-9999999999' must go upwards from at least 1 to at most 100,000",
        ),
        ("training.weighting=500", "training.weighting: should be less than or equal to 10 (got 500)"),
        ("training.optimizer.betas=[0.9, 1.5]", "training.optimizer.betas.1: should be less than 1 (got 1.5)"),
        (
            "encoding={kind: hard-alibi, windows: [-3]}",
            "encoding.windows.0: should be greater than or equal to 0 (got -3)",
        ),
        (
            "encoding={kind: t5, reach: 9}",
            "encoding.reach: 9 lies within the 16 distances that have buckets of their own",
        ),
        ("format.spaces={within: all, at_test: true}", "format.spaces.at_test: nobody can foresee random spaces"),
        ("training={pack: 64, accumulate: 2}", "training.accumulate: packed steps hold all lengths already"),
        ("modle.layers=3", "modle: no such key; did you mean model?"),
        ("steps", "'steps' is not of the form key=value"),
    ],
)
def test_mistakes_name_their_place_and_the_nearest_choice(override: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        load_config("smoke", [override])
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


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


def test_an_unknown_recipe_names_the_nearest() -> None:
    with pytest.raises(UserError, match=r"no recipe or file 'smok'; did you mean smoke\?"):
        load_config("smok")


def test_the_defaults_are_a_config() -> None:
    assert validate({}) == Config()


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


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_passes_its_checks(name: str) -> None:
    check(load_config(name))
