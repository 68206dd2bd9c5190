"""One schema for YAML recipes, `key=value` overrides and saved runs."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from lengthlab.config.fields import ChosenEncoding, ChosenFormat, ChosenPositions, ChosenTask, Lengths, default_of
from lengthlab.config.lengths import LONGEST
from lengthlab.config.model import ModelOptions
from lengthlab.config.plugins import Plugin, load_plugins, plugins_used, require_loaded
from lengthlab.config.sections import Section
from lengthlab.config.training import TrainingOptions
from lengthlab.encodings import ENCODINGS
from lengthlab.formats import FORMATS
from lengthlab.positions import POSITIONS
from lengthlab.tasks import TASKS

DEFAULTS_VERSION = 1  # of the meaning of a setting left out; part of every run's id


class Pair(Section):
    """One (position ids, encoding) pair; a model may have several."""

    positions: ChosenPositions = Field(default_factory=lambda: default_of(POSITIONS))
    encoding: ChosenEncoding


class EvaluationOptions(Section):
    """What is tested when training is done."""

    digits: Lengths = Field(default=tuple(range(1, 21)), min_length=1, description="lengths tested, such as 1-20,50")
    examples: int = Field(default=1000, ge=1, le=10**7, description="problems for each length")
    weights: tuple[Literal["last", "best", "ema"], ...] = Field(
        default=("last",),
        min_length=1,
        description="which weights: the last, the best on training lengths, the average",
    )
    chain: int = Field(
        default=0,
        ge=0,
        le=LONGEST,
        description="carry-heavy sums: a carry runs through this many places; 0 for uniform sums",
    )
    operands: Literal["uniform", "equal", "sparse"] = Field(
        default="uniform",
        description="symmetric sums: equal, a number and itself; sparse, a number with a single digit that is not 0",
    )


class Seeds(Section):
    """Independent sources of randomness."""

    weights: int = Field(default=0, ge=0, le=10**18, description="initial weights")
    data: int = Field(default=0, ge=0, le=10**18, description="training problems; of an endless stream the order too")
    sampling: int = Field(default=0, ge=0, le=10**18, description="position ids and dropout")
    test: int = Field(default=0, ge=0, le=10**18, description="test problems; the same for all runs unless changed")
    order: int = Field(default=0, ge=0, le=10**18, description="order of a finite training set (training.examples)")


class Config(Section):
    """Everything that determines a run."""

    short_forms = ("seed",)  # see `load.py`

    task: ChosenTask = Field(default_factory=lambda: default_of(TASKS))
    format: ChosenFormat = Field(default_factory=lambda: default_of(FORMATS))
    positions: ChosenPositions = Field(default_factory=lambda: default_of(POSITIONS))
    encoding: ChosenEncoding = Field(default_factory=lambda: default_of(ENCODINGS))
    also: tuple[Pair, ...] = Field(default=(), description="further (positions, encoding) pairs")
    model: ModelOptions = ModelOptions()
    training: TrainingOptions = TrainingOptions()
    evaluation: EvaluationOptions = EvaluationOptions()
    seeds: Seeds = Seeds()
    plugins: tuple[Plugin, ...] = Field(default=(), description="files outside lengthlab that this config needs")

    @model_validator(mode="before")
    @classmethod
    def _load_plugins(cls, data: Any) -> Any:
        """Nobody sets the plugins of a config: they follow from its choices. A run's must be the very same."""
        load_plugins()
        if not isinstance(data, dict) or "plugins" not in data:
            return data
        require_loaded(data["plugins"])
        return {key: value for key, value in data.items() if key != "plugins"}

    @model_validator(mode="after")
    def _keep_plugins(self) -> Self:
        used = plugins_used(self._choices())
        return self.model_copy(update={"plugins": used}) if used else self

    def _choices(self) -> Iterator[tuple[str, str]]:
        """Every registered name in use, with its axis."""
        yield from (("tasks", self.task.kind), ("formats", self.format.kind))
        for pair in self.pairs:
            yield from (("positions", pair.positions.kind), ("encodings", pair.encoding.kind))
        yield "optimizers", self.training.optimizer.kind
        yield from (("attentions", self.model.attention), ("schedules", self.training.schedule.kind))

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All (positions, encoding) pairs, the main one first."""
        return (Pair(positions=self.positions, encoding=self.encoding), *self.also)

    @property
    def id(self) -> str:
        """Ten hexadecimal digits of a hash over all settings that are not the default.

        So a new option moves no run that does not use it; a default that changes must change DEFAULTS_VERSION.
        """
        settings = {"defaults": DEFAULTS_VERSION, **self.model_dump(mode="json", exclude_defaults=True)}
        if self.plugins:  # what they hold counts, not what they are called
            settings["plugins"] = [plugin.sha256 for plugin in self.plugins]
        canonical = json.dumps(settings, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:10]
