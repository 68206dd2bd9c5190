"""One schema for YAML recipes, `key=value` overrides and saved runs."""

import hashlib
import json
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, SerializeAsAny, field_validator, model_validator
from pydantic_core import PydanticCustomError

from lengthlab.encodings import ENCODINGS
from lengthlab.errors import suggestion
from lengthlab.formats import FORMATS
from lengthlab.lengths import parse_lengths
from lengthlab.optimizers import OPTIMIZERS
from lengthlab.options import EncodingOptions, Options, Section
from lengthlab.positions import POSITIONS
from lengthlab.registry import Registry
from lengthlab.sizes import SIZES
from lengthlab.tasks import TASKS


def _variant_of(registry: Registry) -> BeforeValidator:
    """Validate with the options of the registered variant that `kind` names; a bare name is short for its kind."""

    def validate(value: Any) -> Any:
        if isinstance(value, str):
            value = {"kind": value}
        if not isinstance(value, dict):
            return value  # an Options object, or a mistake that pydantic will name
        kind = value.get("kind")
        if kind not in registry.names():
            known = suggestion(str(kind), registry.names())
            raise PydanticCustomError(
                "unknown_kind", "no such {noun}; {hint}", {"key": "kind", "noun": registry.noun, "hint": known}
            )
        return registry[kind].load().options_class.model_validate(value)

    return BeforeValidator(validate)


DEFAULTS_VERSION = 1  # of the meaning of a setting left out; part of every run's id

TaskChoice = Annotated[SerializeAsAny[Options], _variant_of(TASKS)]
FormatChoice = Annotated[SerializeAsAny[Options], _variant_of(FORMATS)]
PositionsChoice = Annotated[SerializeAsAny[Options], _variant_of(POSITIONS)]
EncodingChoice = Annotated[SerializeAsAny[EncodingOptions], _variant_of(ENCODINGS)]
OptimizerChoice = Annotated[SerializeAsAny[Options], _variant_of(OPTIMIZERS)]


def _lengths(value: Any) -> Any:
    """Lengths in order, each once."""
    if isinstance(value, str | int):
        return parse_lengths(str(value))
    whole = isinstance(value, list | tuple) and all(isinstance(length, int) for length in value)
    return sorted(set(value)) if whole else value


Lengths = Annotated[tuple[Annotated[int, Field(ge=1)], ...], BeforeValidator(_lengths)]  # or as text: 1-10,15


def _switch(value: Any) -> Any:
    """YAML reads a bare on or off as a truth value."""
    return {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value


class Pair(Section):
    """One (position ids, encoding) pair; a model may have several."""

    positions: PositionsChoice = Field(default_factory=lambda: _default(POSITIONS, "sequential"))
    encoding: EncodingChoice


class ModelOptions(Section):
    """The Transformer's shape. `size` is short for a named shape (see `sizes.py`)."""

    short_forms = ("size",)

    layers: int = Field(default=2, ge=1, description="blocks of attention and feed-forward")
    width: int = Field(default=128, ge=1, description="size of a token's vector")
    feedforward: int = Field(default=512, ge=1, description="hidden units of the feed-forward part")
    heads: int = Field(default=4, ge=1, description="attention heads; they must divide the width")
    dropout: float = Field(default=0.0, ge=0, lt=1, description="share of values dropped in training")
    tied: bool = Field(default=False, description="use the embedding matrix as output matrix")
    logit_factor: float = Field(default=1.0, gt=0, description="multiplies the attention logits")
    logit_factor_at_test: float | None = Field(default=None, gt=0, description="the same at test, if another")
    log_scaling: Literal["none", "fixed", "learned"] = Field(
        default="none",
        description="multiply the logits by log(keys), fixed or with a learned factor for each head (SSMax)",
    )
    log_reference: int = Field(default=64, ge=1, description="number of keys at which log scaling is 1")
    attention: Literal["softmax", "stick-breaking"] = Field(
        default="softmax", description="how logits become weights; stick-breaking prefers the nearest key that wants it"
    )
    mask: Literal["causal", "prefix"] = Field(
        default="causal", description="prefix: the question sees itself both ways"
    )
    loops: int = Field(default=1, ge=1, description="how often the layers are gone through, with the same weights")
    injection: bool = Field(default=False, description="add the embedded input again at the start of each further loop")

    @model_validator(mode="before")
    @classmethod
    def _expand_size(cls, data: Any) -> Any:
        if isinstance(data, str):
            data = {"size": data}
        if isinstance(data, dict) and "size" in data:
            data = dict(data)
            size = str(data.pop("size"))
            if size not in SIZES:
                raise PydanticCustomError(
                    "unknown_size", "no such size; {hint}", {"key": "size", "hint": suggestion(size, SIZES)}
                )
            data = SIZES[size] | data
        return data

    @field_validator("heads")
    @classmethod
    def _heads_divide_width(cls, heads: int, info: Any) -> int:
        width = info.data.get("width")
        if width and width % heads:
            divisors = [h for h in range(1, width + 1) if width % h == 0]
            near = min(divisors, key=lambda h: abs(h - heads))
            raise PydanticCustomError(
                "heads",
                "{heads} heads do not divide the width {width}; the nearest number that does is {near}",
                {"heads": heads, "width": width, "near": near},
            )
        return heads

    @model_validator(mode="after")
    def _stick_breaking_is_causal(self) -> Self:
        if self.attention == "stick-breaking" and self.mask == "prefix":
            raise PydanticCustomError("mask", "stick-breaking attention looks back only; use causal", {"key": "mask"})
        return self


class ScheduleOptions(Section):
    """Linear warm-up from 0, then the paper's cosine decay to `final` of the peak rate, or another course."""

    kind: Literal["cosine", "constant", "stable-decay"] = Field(
        default="cosine", description="stable-decay: at the peak, then down over the last `decay` of the steps"
    )
    decay: float = Field(default=0.2, gt=0, le=1, description="share of the steps over which stable-decay goes down")
    warmup: int = Field(default=500, ge=0, description="steps of warm-up")
    final: float = Field(default=0.1, ge=0, le=1, description="last rate as a share of the peak")


class TrainingOptions(Section):
    """What is trained on, for how long, and how."""

    digits: int = Field(default=10, ge=1, description="longest operand; lengths are uniform in 1..digits")
    steps: int = Field(default=1000, ge=1, description="updates of the weights")
    batch: int = Field(default=128, ge=1, description="examples in a step, all of one length; rows if packed")
    accumulate: int = Field(default=1, ge=1, description="batches in a step, each of a length of its own")
    pack: int = Field(
        default=0,
        ge=0,
        description="if not 0, a step is `batch` rows of this many tokens, filled with examples of all lengths",
    )
    growth: float = Field(
        default=0.0, ge=0, le=1, description="share of the steps over which the longest length grows from 2 to `digits`"
    )
    weighting: float = Field(
        default=0.0, ge=-10, le=10, description="lengths are drawn in proportion to length to this power; 0 for uniform"
    )
    max_examples: int = Field(default=0, ge=0, description="stop after this many examples; 0 for no limit")
    max_tokens: int = Field(default=0, ge=0, description="stop after this many tokens; 0 for no limit")
    stop_at: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="stop once every evaluated training length has this exact match; 0 for never",
    )
    ema: float = Field(default=0.0, ge=0, lt=1, description="decay of a moving average of the weights; 0 for none")
    optimizer: OptimizerChoice = Field(default_factory=lambda: _default(OPTIMIZERS, "adamw"))
    schedule: ScheduleOptions = ScheduleOptions()
    clip: float = Field(default=1.0, ge=0, description="largest gradient norm; 0 for no clipping")
    rows: Literal["auto", "dense", "packed"] = Field(
        default="auto",
        description="packed: examples end to end in rows of `pack` tokens; dense: a batch for each length, with the "
        "same loss; auto: packed on a GPU where attention has no bias",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(default="auto", description="auto: a GPU if there is one")
    precision: Literal["auto", "fp32", "bf16"] = Field(
        default="auto", description="of matrix products; auto: bf16 where the processor computes in it"
    )
    compile: Annotated[Literal["auto", "on", "off"], BeforeValidator(_switch)] = Field(
        default="auto", description="torch.compile for what lies between matrix products; auto: where it gains"
    )
    checkpoint_every: int = Field(
        default=200, ge=1, description="steps between checkpoints, from which a run can go on"
    )
    keep: int = Field(default=2, ge=1, description="how many checkpoints are kept")
    log_every: int = Field(default=20, ge=1, description="steps between lines of metrics.jsonl")
    evaluate_every: int = Field(default=200, ge=0, description="steps between evaluations during training; 0 for none")
    evaluate_digits: Lengths = Field(default=(), description="lengths evaluated during training")
    evaluate_examples: int = Field(default=64, ge=1, description="problems for each of them")

    @model_validator(mode="after")
    def _packed_steps_need_no_accumulation(self) -> Self:
        if self.pack and self.accumulate > 1:
            raise PydanticCustomError(
                "pack", "packed steps hold all lengths already; use a larger batch", {"key": "accumulate"}
            )
        if self.rows == "packed" and not self.pack:
            raise PydanticCustomError("rows", "packed rows need their length: training.pack=2048", {"key": "rows"})
        return self


class EvaluationOptions(Section):
    """What is tested when training is done."""

    digits: Lengths = Field(default=tuple(range(1, 21)), min_length=1, description="lengths tested, such as 1-20,50")
    examples: int = Field(default=1000, ge=1, description="problems for each length")
    weights: tuple[Literal["last", "best", "ema"], ...] = Field(
        default=("last",),
        min_length=1,
        description="which weights: the last, the best on lengths of training, the average",
    )
    chain: int = Field(
        default=0, ge=0, description="carry-heavy sums: a carry runs through this many places; 0 for uniform sums"
    )


class Seeds(Section):
    """Independent sources of randomness."""

    weights: int = Field(default=0, ge=0, description="initial weights")
    data: int = Field(default=0, ge=0, description="training problems and their order")
    sampling: int = Field(default=0, ge=0, description="position ids and dropout")
    test: int = Field(default=0, ge=0, description="test problems; the same for all runs unless changed")


def _default(registry: Registry, kind: str) -> Options:
    return registry[kind].load().options_class(kind=kind)


def _default_encoding() -> EncodingOptions:
    return EncodingOptions(kind="none")


class Config(Section):
    """Everything that determines a run."""

    short_forms = ("seed",)  # see `recipes/load.py`

    task: TaskChoice = Field(default_factory=lambda: _default(TASKS, "addition"))
    format: FormatChoice = Field(default_factory=lambda: _default(FORMATS, "equation"))
    positions: PositionsChoice = Field(default_factory=lambda: _default(POSITIONS, "sequential"))
    encoding: EncodingChoice = Field(default_factory=_default_encoding)
    also: tuple[Pair, ...] = Field(default=(), description="further (positions, encoding) pairs")
    model: ModelOptions = ModelOptions()
    training: TrainingOptions = TrainingOptions()
    evaluation: EvaluationOptions = EvaluationOptions()
    seeds: Seeds = Seeds()

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
        canonical = json.dumps(settings, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:10]
