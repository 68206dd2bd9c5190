"""The Transformer's settings, and shapes by name."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from lengthlab.config.axes import ATTENTIONS
from lengthlab.config.fields import one_of
from lengthlab.config.sections import Section
from lengthlab.errors import suggestion

SHAPE = ("layers", "width", "feedforward", "heads")
# The paper's four (its appendix on training details), and small ones for a CPU.
SIZES: dict[str, dict[str, int]] = {
    "tiny": {"layers": 1, "width": 32, "feedforward": 64, "heads": 2},  # for tests
    "mini": {"layers": 2, "width": 128, "feedforward": 512, "heads": 4},
    "mini-3": {"layers": 3, "width": 128, "feedforward": 512, "heads": 4},
    "2M": {"layers": 2, "width": 256, "feedforward": 1024, "heads": 4},
    "5M": {"layers": 4, "width": 256, "feedforward": 1024, "heads": 4},
    "25M": {"layers": 6, "width": 512, "feedforward": 2048, "heads": 8},
    "268M": {"layers": 16, "width": 1024, "feedforward": 4096, "heads": 16},
}


class ModelOptions(Section):
    """The Transformer's shape. `size` is short for a named shape of SIZES."""

    short_forms = ("size",)

    layers: int = Field(default=2, ge=1, le=1_000, description="blocks of attention and feed-forward")
    width: int = Field(default=128, ge=1, le=65_536, description="size of a token's vector")
    feedforward: int = Field(default=512, ge=1, le=1_000_000, description="hidden units of the feed-forward part")
    heads: int = Field(default=4, ge=1, le=4_096, description="attention heads; they must divide the width")
    dropout: float = Field(default=0.0, ge=0, lt=1, description="share of values dropped in training")
    tied: bool = Field(default=False, description="use the embedding matrix as output matrix")
    logit_factor: float = Field(default=1.0, gt=0, description="multiplies the attention logits")
    logit_factor_at_test: float | None = Field(default=None, gt=0, description="the same at test, if it should differ")
    log_scaling: Literal["none", "fixed", "learned"] = Field(
        default="none",
        description="multiply the logits by log(keys), fixed or with a learned factor for each head (SSMax)",
    )
    log_reference: int = Field(default=64, ge=1, le=10**9, description="number of keys at which log scaling is 1")
    attention: Annotated[str, one_of(ATTENTIONS), ATTENTIONS] = Field(
        default=ATTENTIONS.default,
        description="how logits become weights; stick-breaking prefers the nearest key that wants it",
    )
    mask: Literal["causal", "prefix"] = Field(
        default="causal", description="prefix: the question sees itself both ways"
    )
    loops: int = Field(
        default=1, ge=1, le=1_000, description="how many times the layers are applied, with the same weights"
    )
    initial_embeddings: Literal["normal", "orthogonal"] = Field(
        default="normal", description="orthogonal: no two tokens look alike at the start, where the width has room"
    )
    initial_keys: Literal["normal", "queries"] = Field(
        default="normal",
        description="queries: key matrices start equal to the query matrices, so that tokens look for similar ones",
    )
    initial_outputs: Literal["normal", "values"] = Field(
        default="normal",
        description="values: output matrices start as the value matrices transposed: tokens pass on what they see",
    )
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
            within = min(heads, width)
            near = next(h for step in range(width) for h in (within - step, within + step) if h > 0 and not width % h)
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
