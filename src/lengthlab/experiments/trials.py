"""From an experiment at a scale to its configs: settings x seeds."""

import json
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from lengthlab.config import Config
from lengthlab.errors import UserError, suggestion
from lengthlab.experiments.load import Experiment
from lengthlab.experiments.scales import SCALES, ScaleName, Settings, levels
from lengthlab.lengths import parse_lengths
from lengthlab.recipes.load import load_config


class Planned(NamedTuple):
    """One config that an experiment needs; `config.id` names its run."""

    setting: str
    seed: int
    config: Config


def trials(experiment: Experiment, scale: ScaleName, seeds: Sequence[int] | None = None) -> list[Planned]:
    """All configs, settings in declared order and seeds within them; the experiment's own seeds if none are given."""
    chosen = seeds or seeds_of(experiment, scale)
    return [
        Planned(setting, seed, _with_seed(config, experiment.seed, seed))
        for setting, config in settings(experiment, scale).items()
        for seed in chosen
    ]


def seeds_of(experiment: Experiment, scale: ScaleName) -> tuple[int, ...]:
    """The seeds declared for this scale, by the experiment or by the scale."""
    return experiment.at(scale).seeds or experiment.seeds or parse_lengths(SCALES[scale].seeds, lowest=0)


def settings(experiment: Experiment, scale: ScaleName) -> dict[str, Config]:
    """The config of each setting, before a seed is set, by its label."""
    base, here, shared = SCALES[scale], experiment.at(scale), levels(scale)
    factors = {
        name: factor for name, factor in (experiment.factors | here.factors).items() if factor is not None
    }  # a scale's factor takes the place of the experiment's, null takes it away
    named = [[_level(experiment, label, own, shared) for label, own in factor.items()] for factor in factors.values()]
    configs: dict[str, Config] = {}
    for combination in product(*named):
        label = ", ".join(part for part, _ in combination)
        parts = [base.overrides, experiment.overrides, here.overrides, *(overrides for _, overrides in combination)]
        try:
            configs[label] = load_config(base.recipe, [text for part in parts for text in _as_text(part)])
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


def _as_text(overrides: Settings) -> list[str]:
    """Settings as the command line takes them."""
    return [f"{key}={json.dumps(value)}" for key, value in overrides.items()]


def _with_seed(config: Config, what: str, seed: int) -> Config:
    return config.model_copy(update={"seeds": config.seeds.model_copy(update={what: seed})})
