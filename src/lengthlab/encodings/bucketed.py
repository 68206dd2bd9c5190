"""Biases looked up in a small table of distances: T5's logarithmic buckets, and clipped differences."""

import math
from typing import Self

import torch
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from torch import Tensor, nn

from lengthlab.encodings.encoding import Encoding, Shape, distances
from lengthlab.options import EncodingOptions


class T5Options(EncodingOptions):
    """T5's own values; it shares the biases of all layers."""

    buckets: int = Field(default=32, ge=2, multiple_of=2, description="size of the table for each head")
    reach: int = Field(default=128, ge=2, description="distances from here on share the last bucket")

    @model_validator(mode="after")
    def _reach_goes_beyond_the_exact_half(self) -> Self:
        if self.reach <= self.buckets // 2:
            reason = "{reach} lies within the {half} distances that have buckets of their own; set at least {least}"
            context = {"key": "reach", "reach": self.reach, "half": self.buckets // 2, "least": self.buckets // 2 + 1}
            raise PydanticCustomError("reach", reason, context)
        return self


def t5_bucket(distance: Tensor, buckets: int, reach: int) -> Tensor:
    """With h = buckets / 2: distance d below h, then h + floor(h log(d/h) / log(reach/h)), at most the last bucket."""
    half = buckets // 2
    near = distance.clamp(min=0)
    ratio = torch.log(near.clamp(min=half).float() / half) / math.log(reach / half)
    far = (half + (ratio * half).long()).clamp(max=buckets - 1)
    return torch.where(near < half, near, far)


class T5(Encoding):
    """b(i, j) = table[head, bucket(i - j)] (Raffel et al. 2020, section 2.1; equation in the paper's appendix A)."""

    options_class = T5Options

    def __init__(self, options: T5Options, shape: Shape) -> None:
        super().__init__()
        self.buckets, self.reach = options.buckets, options.reach
        self.table = nn.Parameter(torch.randn(shape.heads, options.buckets) / math.sqrt(options.buckets))

    def bias(self, q: Tensor | None, k: Tensor | None, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        bucket = t5_bucket(distances(q_positions, k_positions), self.buckets, self.reach)
        return self.table[:, bucket].transpose(0, 1)


class ClippedOptions(EncodingOptions):
    """The values with which a two-layer model trained on 10 digits added numbers of 100 (see LOG.md)."""

    reach: int = Field(default=3, ge=1, description="differences are clipped to -reach..reach")
    scale: float = Field(default=32.0, gt=0, description="fixed factor, so that a small weight can mean a sharp bias")
    shared: bool = Field(default=False, description="one set of weights for all layers, or one for each")


class Clipped(Encoding):
    """b(i, j) = scale * table[head, clip(i - j)]: for coupled ids, where small differences are what matters."""

    options_class = ClippedOptions

    def __init__(self, options: ClippedOptions, shape: Shape) -> None:
        super().__init__()
        self.reach, self.scale = options.reach, options.scale
        self.table = nn.Parameter(torch.zeros(shape.heads, 2 * options.reach + 1))

    def bias(self, q: Tensor | None, k: Tensor | None, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        bucket = distances(q_positions, k_positions).clamp(-self.reach, self.reach) + self.reach
        return self.scale * self.table[:, bucket].transpose(0, 1)
