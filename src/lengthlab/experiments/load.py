"""Reading experiments: the eighteen of the paper by name, or a YAML file of one's own."""

from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from lengthlab.errors import UserError, suggestion
from lengthlab.experiments.scales import SCALE_NAMES, ScaleName, Settings
from lengthlab.lengths import parse_lengths
from lengthlab.options import Section
from lengthlab.recipes.load import first_mistake
from lengthlab.recipes.names import parse_mapping

FigureName = Literal[
    "exact_match_over_seeds",
    "best_of_seeds",
    "settings_grid",
    "box_over_settings",
    "evolution",
    "loss_curves",
    "order_grid",
    "factor_by_training_length",
    "error_panels",
]
_FOLDER = resources.files("lengthlab.experiments")


def _levels(value: Any) -> Any:
    """A list of names is short for levels that `scales.py` knows."""
    return {str(name): str(name) for name in value} if isinstance(value, list) else value


def _seeds(value: Any) -> Any:
    return parse_lengths(str(value), lowest=0) if isinstance(value, str | int) else value


Factor = Annotated[dict[str, Settings | str], BeforeValidator(_levels)]  # label -> settings, or a shared level's name
SeedList = Annotated[tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(_seeds)]  # as text: 1-5,7


class AtScale(Section):
    """What one scale has in place of the experiment's own: whole factors (null for none), seeds, further overrides."""

    factors: dict[str, Factor | None] = Field(default={})
    seeds: SeedList | None = Field(default=None, min_length=1)
    overrides: Settings = Field(default={})


class Experiment(Section):
    """Settings are all combinations of the factors' levels; a setting's label joins the labels of its levels."""

    name: str
    varies: str = Field(description="what differs between settings, in a few words")
    question: str
    sentence: str = Field(description="what the figure shows, in plain words")
    figure: FigureName
    claims: tuple[str, ...] = ()
    factors: dict[str, Factor] = Field(min_length=1)
    seeds: SeedList | None = Field(default=None, min_length=1, description="those of the scale if not given")
    seed: Literal["weights", "data"] = Field(default="weights", description="what a seed decides")
    overrides: Settings = Field(default={})
    smoke: AtScale = AtScale()
    mini: AtScale = AtScale()
    paper: AtScale = AtScale()

    def at(self, scale: ScaleName) -> AtScale:
        return {"smoke": self.smoke, "mini": self.mini, "paper": self.paper}[scale]

    @field_validator("factors")
    @classmethod
    def _factors_have_levels(cls, factors: dict[str, Factor]) -> dict[str, Factor]:
        for name, factor in factors.items():
            if not factor:
                raise PydanticCustomError("levels", "should have at least one level", {"key": name})
        return factors


def experiment_names() -> list[str]:
    """The experiments that come with lengthlab, in alphabetical order."""
    return sorted(Path(item.name).stem for item in _FOLDER.iterdir() if item.name.endswith(".yaml"))


def load_experiment(name: str) -> Experiment:
    """An experiment by its name or from a YAML file; the first mistake is told in one sentence."""
    if name in experiment_names():
        text, label = (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), name
    elif Path(name).is_file():
        text, label = Path(name).read_text(encoding="utf-8", errors="replace"), Path(name).stem
    else:
        raise UserError(f"no experiment or file {name!r}; {suggestion(name, experiment_names())}")
    data = parse_mapping(name, text, "an experiment is a YAML mapping such as `factors: {encoding: [RoPE, FIRE]}`")
    try:
        return Experiment.model_validate({"name": label} | data)
    except ValidationError as error:
        raise UserError(f"{name}: {first_mistake(error)}") from None


def check_scale(name: str) -> ScaleName:
    """A scale's name, or a mistake."""
    for scale in SCALE_NAMES:
        if scale == name:
            return scale
    raise UserError(f"no scale {name!r}; {suggestion(name, SCALE_NAMES)}")
