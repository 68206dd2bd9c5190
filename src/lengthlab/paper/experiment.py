"""Experiments: the paper's by name, or your own from a YAML file, and the runs they need.

    experiments/NAME.yaml -> settings x seeds -> configs, each trained once

Whatever needs to know which experiments there are, or in which order, asks `experiment_names`.
"""

from collections.abc import Sequence
from functools import cache
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from lengthlab.config.lengths import parse_lengths
from lengthlab.config.load import load_config
from lengthlab.config.mistakes import first_mistake
from lengthlab.config.presets import parse_mapping
from lengthlab.config.schema import Config
from lengthlab.config.sections import Section
from lengthlab.errors import UserError, suggestion
from lengthlab.figures import FIGURES
from lengthlab.paper.scales import SCALE_NAMES, SCALES, ScaleName, Settings, as_overrides, levels
from lengthlab.training.cost import count_work, testing_flops

_FOLDER = resources.files("lengthlab.paper") / "experiments"


def _levels(value: Any) -> Any:
    """A list of names is short for levels that `scales.py` knows."""
    return {str(name): str(name) for name in value} if isinstance(value, list) else value


def _seeds(value: Any) -> Any:
    return parse_lengths(str(value), lowest=0) if isinstance(value, str | int) else value


Factor = Annotated[dict[str, Settings | str], BeforeValidator(_levels)]  # label -> settings, or a shared level's name
SeedList = Annotated[tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(_seeds)]  # as text: 1-5,7


Seeded = Literal["weights", "data", "order"]


class AtScale(Section):
    """What one scale has in place of the experiment's own: whole factors (null for none), seeds, further overrides.

    `recipe` takes the place of the scale's base recipe.
    """

    recipe: str = ""
    seed: Seeded | None = None
    factors: dict[str, Factor | None] = Field(default={})
    seeds: SeedList | None = Field(default=None, min_length=1)
    overrides: Settings = Field(default={})


class Experiment(Section):
    """Settings are all combinations of the factors' levels; a setting's label joins the labels of its levels."""

    name: str
    order: int = Field(default=1000, description="its place in lists and in the report; those of the paper come first")
    varies: str = Field(description="what differs between settings, in a few words")
    question: str
    sentence: str = Field(description="what the figure shows, in plain words")
    figure: str
    also: tuple[str, ...] = Field(default=(), description="further figures of the same runs")
    factors: dict[str, Factor] = Field(min_length=1)
    seeds: SeedList | None = Field(default=None, min_length=1, description="those of the scale if not given")
    seed: Seeded = Field(default="weights", description="what a seed decides")
    overrides: Settings = Field(default={})
    smoke: AtScale = AtScale()
    mini: AtScale = AtScale()
    laptop: AtScale = AtScale()
    paper: AtScale = AtScale()

    def at(self, scale: ScaleName) -> AtScale:
        return {"smoke": self.smoke, "mini": self.mini, "laptop": self.laptop, "paper": self.paper}[scale]

    @property
    def figures(self) -> tuple[str, ...]:
        """All its figures, the main one first."""
        return (self.figure, *self.also)

    @field_validator("figure", "also")
    @classmethod
    def _known_figures(cls, named: str | tuple[str, ...]) -> str | tuple[str, ...]:
        for figure in (named,) if isinstance(named, str) else named:
            if figure not in FIGURES.names():
                hint = suggestion(figure, FIGURES.names())
                raise PydanticCustomError("figure", "no such figure; {hint}", {"hint": hint})
        return named

    @field_validator("factors")
    @classmethod
    def _factors_have_levels(cls, factors: dict[str, Factor]) -> dict[str, Factor]:
        for name, factor in factors.items():
            if not factor:
                raise PydanticCustomError("levels", "should have at least one level", {"key": name})
        return factors


@cache
def experiment_names() -> tuple[str, ...]:
    """The experiments that come with lengthlab, in the order that their files declare."""
    names = sorted(Path(item.name).stem for item in _FOLDER.iterdir() if item.name.endswith(".yaml"))
    return tuple(sorted(names, key=lambda name: _parse(name, (_FOLDER / f"{name}.yaml").read_text("utf-8")).order))


def load_experiment(name: str) -> Experiment:
    """An experiment by its name or from a YAML file; the first mistake is reported in one sentence."""
    if name in experiment_names():
        text, label = (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), name
    elif Path(name).is_file():
        text, label = Path(name).read_text(encoding="utf-8", errors="replace"), Path(name).stem
    else:
        raise UserError(f"no experiment or file {name!r}; {suggestion(name, experiment_names())}")
    return _parse(name, text, label)


def _parse(name: str, text: str, label: str = "") -> Experiment:
    data = parse_mapping(name, text, "an experiment is a YAML mapping such as `factors: {encoding: [RoPE, FIRE]}`")
    try:
        return Experiment.model_validate({"name": label or name} | data)
    except ValidationError as error:
        raise UserError(f"{name}: {first_mistake(error)}") from None


def check_scale(name: str) -> ScaleName:
    """A scale's name, or a mistake."""
    for scale in SCALE_NAMES:
        if scale == name:
            return scale
    raise UserError(f"no scale {name!r}; {suggestion(name, SCALE_NAMES)}")


class Planned(NamedTuple):
    """One config that an experiment needs; `config.id` names its run."""

    setting: str
    seed: int
    config: Config
    recipe: str = ""  # from which it was made


def base_config(scale: ScaleName) -> Config:
    """What all experiments of a scale share."""
    return load_config(SCALES[scale].recipe, as_overrides(SCALES[scale].overrides))


def trials(experiment: Experiment, scale: ScaleName, seeds: Sequence[int] | None = None) -> list[Planned]:
    """All configs, settings in declared order and seeds within them; the experiment's own seeds if none are given."""
    chosen = seeds or seeds_of(experiment, scale)
    here = experiment.at(scale)
    return [
        Planned(setting, seed, _with_seed(config, here.seed or experiment.seed, seed), recipe_of(experiment, scale))
        for setting, config in settings(experiment, scale).items()
        for seed in chosen
    ]


def seeds_of(experiment: Experiment, scale: ScaleName) -> tuple[int, ...]:
    """The seeds declared for this scale, by the experiment or by the scale."""
    return experiment.at(scale).seeds or experiment.seeds or parse_lengths(SCALES[scale].seeds, lowest=0)


def recipe_of(experiment: Experiment, scale: ScaleName) -> str:
    """The base recipe of an experiment at a scale."""
    return experiment.at(scale).recipe or SCALES[scale].recipe


def settings(experiment: Experiment, scale: ScaleName) -> dict[str, Config]:
    """The config of each setting, before a seed is set, by its label."""
    base, here, shared = SCALES[scale], experiment.at(scale), levels(scale)
    factors = {
        name: factor for name, factor in (experiment.factors | here.factors).items() if factor is not None
    }  # a scale's factor takes the place of the experiment's, null takes it away
    named = [[_level(experiment, label, own, shared) for label, own in factor.items()] for factor in factors.values()]
    configs: dict[str, Config] = {}
    recipe = recipe_of(experiment, scale)
    for combination in product(*named):
        label = ", ".join(part for part, _ in combination)
        parts = [base.overrides, experiment.overrides, here.overrides, *(overrides for _, overrides in combination)]
        try:
            configs[label] = load_config(recipe, [text for part in parts for text in as_overrides(part)])
        except UserError as error:
            raise UserError(f"{experiment.name}, {label} at {scale} scale: {error}") from None
    return configs


def _level(
    experiment: Experiment, label: str, own: Settings | str, shared: dict[str, Settings]
) -> tuple[str, Settings]:
    if not isinstance(own, str):
        return label, own
    if own not in shared:
        raise UserError(f"{experiment.name}: no level {own!r} is shared; {suggestion(own, shared)}")
    return label, shared[own]


def _with_seed(config: Config, what: str, seed: int) -> Config:
    return config.model_copy(update={"seeds": config.seeds.model_copy(update={what: seed})})


def seconds(config: Config, scale: ScaleName) -> float:
    """Roughly how long a run takes: training, testing and starting, on one core or one GPU as the scale assumes."""
    assumed = SCALES[scale]
    return assumed.start + (count_work(config).flops + testing_flops(config)) / assumed.flops
