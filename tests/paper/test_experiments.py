"""Every experiment at every scale resolves to configs that can be trained; the paper's numbers are the paper's."""

from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest

from lengthlab.config.checks import check
from lengthlab.config.load import load_config
from lengthlab.config.model import SIZES
from lengthlab.config.schema import Config
from lengthlab.errors import UserError
from lengthlab.figures import FIGURES
from lengthlab.paper.claims import claims_about, load_claims
from lengthlab.paper.experiment import (
    Experiment,
    check_scale,
    experiment_names,
    load_experiment,
    seconds,
    seeds_of,
    settings,
    trials,
)
from lengthlab.paper.scales import SCALE_NAMES, ScaleName

NAMES = experiment_names()


def ids(name: str, scale: ScaleName) -> set[str]:
    return {planned.config.id for planned in trials(load_experiment(name), scale)}


def at_paper(name: str) -> dict[str, Config]:
    return settings(load_experiment(name), "paper")


def test_every_file_is_an_experiment_with_a_place_of_its_own() -> None:
    files = {path.name.removesuffix(".yaml") for path in (resources.files("lengthlab.paper") / "experiments").iterdir()}
    assert files == set(NAMES)
    assert [load_experiment(name).order for name in NAMES] == list(range(1, len(NAMES) + 1))


@pytest.mark.parametrize("scale", SCALE_NAMES)
@pytest.mark.parametrize("name", NAMES)
def test_every_run_can_be_trained_and_has_a_name_of_its_own(name: str, scale: ScaleName) -> None:
    experiment = load_experiment(name)
    planned = trials(experiment, scale)
    for setting in settings(experiment, scale).values():
        check(setting)
    members = [(one.setting, one.seed) for one in planned]
    assert len(set(members)) == len(members)
    assert len({one.config.id for one in planned}) == len(planned), "two settings are the same"
    assert all(seconds(one.config, scale) > 0 for one in planned[:1])


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_says_what_it_is_for(name: str) -> None:
    experiment = load_experiment(name)
    assert experiment.question.endswith("?") and experiment.sentence.endswith(".")
    assert claims_about(name) and experiment.figure in FIGURES.names()


def test_claims_name_experiments_and_never_the_other_way_round() -> None:
    named = {name for claim in load_claims().values() for name in (claim.experiment, *claim.also)}
    assert named == set(NAMES)
    assert [claim.id for claim in claims_about("loss-curves")] == ["sharp-transition", "equal-loss-different-reach"]


@pytest.mark.parametrize("scale", SCALE_NAMES)
def test_the_settings_that_claims_name_exist_at_every_scale(scale: ScaleName) -> None:
    labels = {name: settings(load_experiment(name), scale).keys() for name in NAMES}
    for claim in load_claims().values():
        named = [side for pair in getattr(claim, "pairs", ()) for side in pair]
        flat = [label for side in named for label in ([side] if isinstance(side, str) else side)]
        wanted = {*flat, *(name for name in getattr(claim, "settings", ()) if "*" not in name)}
        assert wanted <= labels[claim.experiment], claim.id


@pytest.mark.parametrize("scale", SCALE_NAMES)
def test_experiments_share_runs(scale: ScaleName) -> None:
    curves = trials(load_experiment("loss-curves"), scale)
    shared = {one.config.id: one.seed for one in curves if "standard" not in one.setting}
    for name in ("encodings", "index-hints", "digit-order", "random-spaces"):
        seeds = seeds_of(load_experiment(name), scale)  # some have more than others
        assert {run for run, seed in shared.items() if seed in seeds} <= ids(name, scale), name
    for name in ("evolution", "errors") if scale != "laptop" else ("errors",):  # on a laptop, evolution's are longer
        assert ids("encodings", scale) <= ids(name, scale), name
    long = "encodings" if scale != "laptop" else "training-length"  # on a laptop only FIRE is trained on 40 digits
    assert len(ids("seeds", scale) & ids(long, scale)) == len(seeds_of(load_experiment(long), scale))
    assert ids("loss-curves", scale) == ids("digit-order", scale)
    assert ids("randomized-positions", scale) & shared.keys()
    alone = ids("model-size", scale) if scale == "laptop" else set(shared)  # on a laptop, FIRE has a base of its own
    for name in ("attention-mask", "weight-decay", "dropout", "learning-rate"):
        assert ids(name, scale) & alone, name
    assert ids("systems", scale) & ids(long, scale)  # Zhou et al. 2023 is NoPE with hints; the paper's recipe is FIRE


def test_a_laptop_trains_on_the_papers_lengths_where_length_is_the_point() -> None:
    for name in NAMES:
        long = name in ("systems", "seeds", "training-length")
        trained, tested = (40, 100) if long else (4, 8) if name == "interleaved" else (20, 50)
        configs = settings(load_experiment(name), "laptop").values()
        assert max(config.training.digits for config in configs) == trained, name
        assert max(max(config.evaluation.digits) for config in configs) == tested, name
        assert all(seconds(config, "laptop") < (20 if long else 6) * 60 for config in configs), name
        assert len(seeds_of(load_experiment(name), "laptop")) >= (5 if name == "init-vs-order" else 6)


def test_fire_has_randomized_ids_at_paper_scale_wherever_it_is_trained() -> None:
    for name in NAMES:
        for label, config in at_paper(name).items():
            randomized = config.encoding.kind == "fire" and "ids in sequence" not in label
            kerple = label == "KerpleLog, randomized ids"
            assert config.positions.kind == ("randomized" if randomized or kerple else "sequential"), (name, label)


def test_the_base_of_the_paper_scale_is_the_papers() -> None:
    config = at_paper("encodings")["FIRE"]
    assert config == load_config("zhou2024")
    training = config.training
    assert (training.digits, training.steps, training.batch, training.pack) == (40, 50_000, 128, 2048)
    optimizer = training.optimizer.model_dump()
    assert (optimizer["kind"], optimizer["rate"], optimizer["weight_decay"]) == ("adamw", 3e-4, 0.1)
    assert (training.schedule.warmup, training.schedule.final, config.model.dropout) == (500, 0.1, 0.0)
    assert (config.model.layers, config.model.width, config.model.feedforward, config.model.heads) == (6, 512, 2048, 8)
    assert config.format.model_dump()["hints"] == 102 and config.format.model_dump()["order"] == "reversed"
    assert config.evaluation.digits == tuple(range(1, 101)) and config.evaluation.examples == 1000
    assert training.evaluate_digits == (30, 50, 70, 90)


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("systems", 5 * 10),
        ("encodings", 4 * 10),
        ("index-hints", 4 * 2 * 2 * 10),
        ("digit-order", 4 * 2 * 10),
        ("random-spaces", 4 * 2 * 10),
        ("randomized-positions", 2 * 2 * 10),
        ("seeds", 10),
        ("init-vs-order", 3 * 5),
        ("training-length", (3 * 2 + 4) * 4 * 5),
        ("model-size", 4 * 5),
        ("dropout", 3 * 5),
    ],
)
def test_the_papers_numbers_of_runs(name: str, runs: int) -> None:
    assert len(trials(load_experiment(name), "paper")) == runs


def test_the_papers_values_of_what_varies() -> None:
    kinds = [config.encoding.kind for config in at_paper("encodings").values()]
    assert kinds == ["rope", "kerple-log", "none", "fire"]
    assert {config.training.digits for config in at_paper("index-hints").values()} == {10, 40}
    assert {config.training.digits for config in at_paper("training-length").values()} == {10, 20, 30, 40}
    sizes = [
        (c.model.layers, c.model.width, c.model.feedforward, c.model.heads) for c in at_paper("model-size").values()
    ]
    assert sizes == [tuple(SIZES[size].values()) for size in ("2M", "5M", "25M", "268M")]
    assert [config.model.dropout for config in at_paper("dropout").values()] == [0.0, 0.1, 0.2]
    decays = [config.training.optimizer.model_dump()["weight_decay"] for config in at_paper("weight-decay").values()]
    assert decays[0] == 1e-6 and decays[-1] == 1.0 and {0.1, 0.3} <= set(decays)
    assert {config.model.mask for config in at_paper("attention-mask").values()} == {"causal", "prefix"}
    assert {config.format.kind for config in at_paper("interleaved").values()} == {"equation", "interleaved"}
    for config in at_paper("interleaved").values():
        assert config.training.digits == 10 and config.format.model_dump()["hints"] == 0
    assert ids("model-size", "paper") <= ids("training-length", "paper")
    orders = trials(load_experiment("init-vs-order"), "paper")
    assert {(one.config.seeds.weights, one.config.seeds.order) for one in orders} == {
        (weights, order) for weights in (1, 2, 3) for order in range(5)
    }
    assert {(one.config.seeds.data, one.config.training.examples) for one in orders} == {(0, 30_000_000)}


def test_at_mini_scale_orders_are_other_data_as_they_were() -> None:
    orders = trials(load_experiment("init-vs-order"), "mini")
    assert {one.config.seeds.data for one in orders} == set(range(5))
    assert {(one.config.seeds.order, one.config.training.examples) for one in orders} == {(0, 0)}


def test_the_systems_are_the_recipes() -> None:
    found = list(at_paper("systems").values())
    assert found == [load_config(name) for name in ("lee2023", "kazemnejad2023", "shen2023", "zhou2023", "zhou2024")]


@pytest.mark.parametrize("scale", SCALE_NAMES)
def test_rates_are_what_their_labels_say(scale: ScaleName) -> None:
    """Whoever tunes a base recipe has to adapt learning-rate.yaml."""
    rates = {
        label: c.training.optimizer.model_dump()
        for label, c in settings(load_experiment("learning-rate"), scale).items()
    }
    for name in ("rate", "muon_rate"):
        if name in rates["rate x 1"]:
            assert rates["rate x 1/3"][name] == pytest.approx(rates["rate x 1"][name] / 3, rel=0.01)
            assert rates["rate x 3"][name] == pytest.approx(rates["rate x 1"][name] * 3, rel=0.01)


def test_a_seed_sets_the_weights_or_the_data_order_and_nothing_else() -> None:
    first, second = trials(load_experiment("seeds"), "smoke", [7, 8])
    assert (first.config.seeds.weights, second.config.seeds.weights) == (7, 8)
    assert first.config.model_copy(update={"seeds": second.config.seeds}) == second.config
    assert first.config.seeds.data == second.config.seeds.data == 0
    orders = trials(load_experiment("init-vs-order"), "smoke", [7])
    assert [(one.config.seeds.weights, one.config.seeds.order) for one in orders] == [(1, 7), (2, 7), (3, 7)]


def test_small_scales_cost_less() -> None:
    experiment = load_experiment("encodings")
    smoke, mini = (sum(seconds(one.config, scale) for one in trials(experiment, scale)) for scale in ("smoke", "mini"))
    assert smoke < 120 < mini
    short, long = (settings(load_experiment("training-length"), "mini")[f"FIRE, 1-{n} digits"] for n in (3, 8))
    assert seconds(short, "mini") < seconds(long, "mini")


OWN = """
varies: hints
question: Do more hints help?
sentence: Exact match with few and with many hints.
figure: settings_grid
factors:
  encoding: [NoPE, FIRE]
  hints: {few: {format.hints: 10}, many: {format.hints: 50}}
mini: {factors: {encoding: null}, overrides: {training.steps: 10}, seeds: 3}
"""


@pytest.fixture
def own(tmp_path: Path) -> Callable[[str, str], Experiment]:
    """An experiment of one's own, with a piece of it replaced."""

    def load(old: str = "", new: str = "") -> Experiment:
        path = tmp_path / "own.yaml"
        assert old in OWN
        path.write_text(OWN.replace(old, new) if old else OWN)
        return load_experiment(str(path))

    return load


def test_an_experiment_of_ones_own_is_one_short_file(own: Callable[..., Experiment]) -> None:
    experiment = own()
    assert experiment.name == "own"
    assert list(settings(experiment, "smoke")) == ["NoPE, few", "NoPE, many", "FIRE, few", "FIRE, many"]
    planned = trials(experiment, "mini")
    assert [(one.setting, one.seed) for one in planned] == [("few", 3), ("many", 3)]
    assert {one.config.training.steps for one in planned} == {10}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("question", "qestion", r"own\.yaml: qestion: no such key; did you mean question\?"),
        ("settings_grid", "settings_gird", r"own\.yaml: figure: .*did you mean settings_grid\?"),
        ("[NoPE, FIRE]", "[NoPE, FYRE]", r"own: no level 'FYRE' is shared; did you mean FIRE\?"),
        (
            "format.hints: 10",
            "format.hnits: 10",
            r"own, NoPE, few at smoke scale: format\.hnits: .*did you mean hints\?",
        ),
        ("[NoPE, FIRE]", "[]", r"own\.yaml: factors\.encoding: should have at least one level"),
        ("seeds: 3", "seeds: 3-1", r"own\.yaml: mini\.seeds: .*must go upwards"),
        ("factors:", "factors: [", r"own\.yaml, line \d+: not valid YAML"),
        (OWN, "7", r"own\.yaml: an experiment is a YAML mapping"),
    ],
)
def test_mistakes_are_told_in_one_sentence(own: Callable[..., Experiment], old: str, new: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        trials(own(old, new), "smoke")


def test_unknown_names_are_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="no experiment or file 'encodigns'; did you mean encodings"):
        load_experiment("encodigns")
    with pytest.raises(UserError, match="no scale 'min'; did you mean mini"):
        check_scale("min")
