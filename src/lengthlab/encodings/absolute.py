"""Absolute encodings: a vector for each id, added to the token embedding before the first layer."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from lengthlab.encodings.encoding import Encoding, Shape
from lengthlab.encodings.options import LearnedOptions, SinusoidalOptions


class Sinusoidal(Encoding):
    """p[2k] = sin(i / base^(2k/width)), p[2k+1] = cos(i / base^(2k/width)) (Vaswani et al. 2017, section 3.5)."""

    options_class = SinusoidalOptions
    relative = False

    def __init__(self, options: SinusoidalOptions, shape: Shape) -> None:
        super().__init__()
        exponents = torch.arange(0, shape.width, 2, dtype=torch.float64) / shape.width  # exact for large ids
        self.register_buffer("frequencies", torch.exp(-exponents * math.log(options.base)), persistent=False)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        angles = positions[..., None] * self.get_buffer("frequencies")  # (1 or B, T, width / 2, rounded up)
        return x + torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[..., : x.shape[-1]].to(x.dtype)


class Learned(Encoding):
    """p = table[i], as in BERT and GPT-2; with digit-place ids this is Abacus, with coupled ids position coupling."""

    options_class = LearnedOptions
    per_id = True
    relative = False

    def __init__(self, options: LearnedOptions, shape: Shape) -> None:
        super().__init__()
        self.table = nn.Embedding(options.rows, shape.width)

    @classmethod
    def refusal(cls, options: Any, highest: int) -> str | None:
        if highest >= options.rows:
            return f"rows: a table of {options.rows} rows has none for id {highest}; set at least {highest + 1}"
        return None

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        return x + self.table(positions)
