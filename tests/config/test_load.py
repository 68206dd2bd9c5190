"""Overrides, `extends`, and the messages for mistakes."""

import subprocess
import sys
from pathlib import Path

import pytest

from lengthlab.config.load import load_config
from lengthlab.errors import UserError

ROOT = Path(__file__).parents[2]


def test_overrides_take_dotted_keys_and_short_forms() -> None:
    config = load_config("zhou2024-mini", ["training.steps=7", "encoding.units=8", "seed=5", "evaluation.digits=3-5,9"])
    dumped = config.model_dump()
    assert dumped["training"]["steps"] == 7
    assert dumped["encoding"]["units"] == 8
    assert dumped["seeds"] == {"weights": 5, "data": 5, "sampling": 5, "test": 0, "order": 0}
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
        load_config("zhou2024-mini", ["encoding.units=3", *overrides])  # reported, not silently dropped


def test_explicit_seeds_win_over_the_short_form() -> None:
    for overrides in (["seed=3", "seeds.weights=1"], ["seeds.weights=1", "seed=3"]):
        seeds = load_config("smoke", overrides).seeds
        assert (seeds.weights, seeds.data, seeds.sampling, seeds.test) == (1, 3, 3, 0)


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
            "training.steps: should be a whole number (got 'many')",
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
        ("seed=x", "seed: should be a whole number, 0 or more (got 'x')"),
        ("seed=-1", "seed: should be a whole number, 0 or more (got -1)"),
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
        (
            "training={pack: 128, batch_tokens: 400}",
            "training.batch_tokens: packed steps have a constant number of tokens already",
        ),
        ("modle.layers=3", "modle: no such key; did you mean model?"),
        ("steps=500", "steps: no such key; did you mean training.steps?"),
        ("stpes=500", "stpes: no such key; did you mean training.steps?"),
        ("lr=1e-3", "lr: no such key; did you mean training.optimizer.rate?"),
        ("epochs=3", "epochs: no such key; did you mean training.steps?"),
        ("training.steps=1.5e0", "training.steps: should be a whole number (got '1.5e0')"),
        ("training.lr=1e-3", "training.lr: no such key; did you mean training.optimizer.rate?"),
        ("digits=3", "digits: no such key; did you mean training.digits or evaluation.digits?"),
        ("schedule=constant", "schedule: no such key; did you mean training.schedule?"),
        ("size=2M", "size: no such key; did you mean model.size?"),
        ("encoding.rows=3", "encoding.rows: no such key; it belongs to encoding=learned"),
        ("encoding=nop", "encoding.kind: no such encoding; did you mean none?"),
        ("encoding=Abacus", "encoding.kind: no such encoding; did you mean positions=digit-place encoding=learned?"),
        ("encoding=randomized", "encoding.kind: no such encoding; did you mean positions=randomized?"),
        ("model.attention=soft", "model.attention: no such attention; did you mean softmax?"),
        ("training.schedule.kind=cos", "training.schedule.kind: no such schedule; did you mean cosine?"),
        ("training.steps=2024-13-45", "training.steps: should be a whole number (got '2024-13-45')"),
        ("training.steps=0x_", "training.steps: should be a whole number (got '0x_')"),
        ("training.steps=!!int abc", "training.steps: should be a whole number (got '!!int abc')"),
        (
            f"training.steps={'1' * 5000}",
            "training.steps: unable to parse input string as an integer, exceeded maximum",
        ),
        (f"training.steps={'1' * 900}", "training.steps: should be less than or equal to 100000000 (got 1111"),
        (f"training.steps={'[' * 200_000}", "training.steps: should be a whole number (got '[[["),
        ("seeds=&a [*a]", "seeds: should be a section such as {key: value} (got '&a [*a]')"),
        ("model.width=10**12", "model.width: should be a whole number"),
        ("model={width: 65536, heads: 4095}", "model.heads: 4095 heads do not divide the width 65536; the nearest"),
        ("steps", "'steps' is not of the form key=value"),
    ],
    ids=lambda text: ascii(text[:50]),
)
def test_mistakes_name_their_place_and_the_nearest_choice(override: str, message: str) -> None:
    with pytest.raises(UserError) as raised:
        load_config("smoke", [override])
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "name",
    [
        "model.width", "model.layers", "model.feedforward", "model.heads", "model.loops", "training.steps",
        "training.digits", "training.batch", "training.accumulate", "training.pack", "evaluation.examples",
        "evaluation.digits", "evaluation.chain", "format.hints", "positions.maximum", "encoding.units", "seeds.weights",
    ],
)  # fmt: skip
def test_no_number_is_large_enough_to_hang(name: str) -> None:
    with pytest.raises(UserError, match=name.replace(".", r"\.")):
        load_config("smoke", [f"{name}={10**19}"])


@pytest.mark.parametrize(
    ("written", "kind"),
    [("NoPE", "none"), ("nope", "none"), ("ALiBi", "alibi"), ("KerpleLog", "kerple-log"), ("kerple_log", "kerple-log"),
     ("RoPE", "rope"), ("FIRE", "fire"), ("T5", "t5"), ("CoPE", "cope"), ("HardALiBi", "hard-alibi")],
)  # fmt: skip
def test_names_are_understood_as_people_write_them_and_change_no_id(written: str, kind: str) -> None:
    for form in ("encoding={}", "encoding.kind={}", "encoding={{kind: {}}}"):
        config = load_config("zhou2024-mini", [form.format(written)])
        assert config.encoding.kind == kind and config.id == load_config("zhou2024-mini", [form.format(kind)]).id
    assert load_config("smoke", ["positions=Abacus"]).positions.kind == "digit-place"
    assert load_config("zhou2024-mini", ["encoding=FIRE"]) == load_config("zhou2024-mini")  # its options are kept


@pytest.mark.parametrize("written", ["1e3", "1E+3", "1.0e3", "1000"])
def test_whole_numbers_can_be_written_with_an_exponent(written: str) -> None:
    config = load_config("smoke", [f"training.steps={written}"])
    assert config.training.steps == 1000 and config.id == load_config("smoke", ["training.steps=1000"]).id


def test_all_mistakes_are_named_at_once() -> None:
    overrides = ["stpes=1", "model.layres=2", "model.heads=0", "also=[{positions: x, encoding: fire}]", "size=1"]
    with pytest.raises(UserError) as raised:
        load_config("smoke", overrides)
    said = str(raised.value)
    for part in ("stpes: no such key", "size: no such key", "model.layres: no such", "also.0.positions.kind: no such"):
        assert part in said
    assert "model.heads: should be greater than or equal to 1 (got 0)" in said and "more)" not in said
    with pytest.raises(UserError, match=r"\(and 1 more\)$"):
        load_config("smoke", [*overrides, "encoding.units=x"])


def test_configs_are_read_without_torch() -> None:
    code = """
import sys
from lengthlab.cli.app import main
from lengthlab.config.load import load_config
from lengthlab.config.presets import recipe_names
for name in recipe_names():
    load_config(name, ["encoding=rope", "training.optimizer=muon", "model.attention=stick-breaking"]).id
for command in (["list", "options", "--json"], ["claims", "--json"]):
    try:
        main(command)
    except SystemExit as stop:
        assert not stop.code
sys.exit("torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-500:]
