"""The options of the encodings, apart from the encodings themselves so that a config can be read without torch."""

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from lengthlab.config.sections import EncodingOptions


class SinusoidalOptions(EncodingOptions):
    """Vaswani et al. use a base of 10,000."""

    base: float = Field(default=10_000.0, gt=1, description="ratio of the longest wavelength to the shortest")


class LearnedOptions(EncodingOptions):
    """One trained vector for each id; ids beyond the table cannot be encoded."""

    rows: int = Field(default=1024, ge=1, le=10_000_000, description="size of the table: ids go from 0 to rows - 1")

    @field_validator("shared")
    @classmethod
    def _acts_once(cls, shared: bool) -> bool:
        if not shared:
            raise ValueError("a table of embeddings acts once, before the first layer; it is always shared")
        return shared


class ShawOptions(EncodingOptions):
    """The original clips at 16 and shares nothing between layers."""

    reach: int = Field(default=16, ge=1, le=1_000_000, description="distances beyond this count as this")
    values: bool = Field(default=False, description="relative vectors for the values too, not only for the keys")
    shared: bool = Field(default=False, description="one set of weights for all layers, or one for each")


class T5Options(EncodingOptions):
    """T5's own values; it shares the biases of all layers."""

    buckets: int = Field(default=32, ge=2, le=65_536, multiple_of=2, description="size of the table for each head")
    reach: int = Field(default=128, ge=2, le=10**9, description="distances from here on share the last bucket")

    @model_validator(mode="after")
    def _reach_goes_beyond_the_exact_half(self) -> Self:
        if self.reach <= self.buckets // 2:
            reason = "{reach} lies within the {half} distances that have buckets of their own; set at least {least}"
            context = {"key": "reach", "reach": self.reach, "half": self.buckets // 2, "least": self.buckets // 2 + 1}
            raise PydanticCustomError("reach", reason, context)
        return self


class ClippedOptions(EncodingOptions):
    """The values with which a two-layer model trained on 10 digits added numbers of 100 (see LOG.md)."""

    reach: int = Field(default=3, ge=1, le=1_000_000, description="differences are clipped to -reach..reach")
    scale: float = Field(default=32.0, gt=0, description="fixed factor, so that a small weight can mean a sharp bias")
    shared: bool = Field(default=False, description="one set of weights for all layers, or one for each")


class HardAlibiOptions(EncodingOptions):
    """Heads without a window see everything, with no notion of position."""

    windows: tuple[Annotated[int, Field(ge=0, le=10**9)], ...] = Field(
        default=(), description="window of each head, 0 for none; empty: 1, 2, ... for half of them"
    )


class FireOptions(EncodingOptions):
    """The initial values are those of Li et al. as their users keep them; the paper states only `units`."""

    units: int = Field(default=32, ge=1, le=65_536, description="hidden units of the MLP f")
    c: float = Field(default=0.1, gt=0, description="initial value of c")
    threshold: float = Field(default=512.0, gt=0, description="initial value of L")


class RopeOptions(EncodingOptions):
    """Codebases differ in the rotated share (25%, 50%, 100%); the default is the original's."""

    base: float = Field(default=10_000.0, gt=1, description="ratio of the longest wavelength to the shortest")
    share: float = Field(default=1.0, gt=0, le=1, description="share of each head that is rotated")
    scaling: Literal["none", "linear", "ntk", "yarn"] = Field(default="none", description="how positions are stretched")
    factor: float = Field(default=1.0, ge=1, description="by how much; 1 changes nothing")
    original: int = Field(default=512, ge=1, le=10**9, description="longest training length, for yarn")

    @model_validator(mode="after")
    def _factor_needs_scaling(self) -> Self:
        if self.factor > 1 and self.scaling == "none":
            raise PydanticCustomError("scaling", "a factor above 1 needs one of linear, ntk, yarn", {"key": "scaling"})
        return self


class CopeOptions(EncodingOptions):
    """One set of vectors for each layer, shared by its heads."""

    reach: int = Field(default=64, ge=1, le=1_000_000, description="largest contextual position")
    shared: bool = Field(default=False, description="one set of weights for all layers, or one for each")


OPTIONS = {
    "none": EncodingOptions,
    "sinusoidal": SinusoidalOptions,
    "learned": LearnedOptions,
    "shaw": ShawOptions,
    "t5": T5Options,
    "alibi": EncodingOptions,
    "hard-alibi": HardAlibiOptions,
    "kerple-log": EncodingOptions,
    "kerple-power": EncodingOptions,
    "fire": FireOptions,
    "rope": RopeOptions,
    "cope": CopeOptions,
    "clipped": ClippedOptions,
}
