"""Rotary positions (RoPE, Su et al. 2021, arXiv:2104.09864), with the usual ways to stretch them.

Pairs of query and key dimensions (d, d + R/2) are turned by i * base^(-2d/R), so that their product depends on
i - j alone. R is the rotated share of the head's width.
"""

import math

import torch
from torch import Tensor

from lengthlab.encodings.encoding import Encoding, Shape
from lengthlab.encodings.options import RopeOptions
from lengthlab.errors import UserError


def frequencies(options: RopeOptions, rotated: int) -> Tensor:
    """The angle per position of each pair of dimensions: (rotated / 2,)."""
    steps = torch.arange(0, rotated, 2, dtype=torch.float64)  # exact for large ids
    base = options.base
    if options.scaling == "ntk" and rotated > 2:  # a larger base stretches the long waves, hardly the short ones
        base *= options.factor ** (rotated / (rotated - 2))
    plain = 1 / base ** (steps / rotated)
    if options.scaling == "linear":  # position interpolation (Chen et al. 2023)
        return plain / options.factor
    if options.scaling == "yarn":  # Peng et al. 2023
        return _yarn(plain, options, rotated)
    return plain


def _yarn(plain: Tensor, options: RopeOptions, rotated: int, fast: float = 32, slow: float = 1) -> Tensor:
    """Stretch waves that turn less than `slow` times in the original length, keep those above `fast`."""

    def dimension(turns: float) -> float:
        return rotated * math.log(options.original / (turns * 2 * math.pi)) / (2 * math.log(options.base))

    low, high = max(math.floor(dimension(fast)), 0), min(math.ceil(dimension(slow)), rotated - 1)
    ramp = ((torch.arange(rotated // 2, dtype=torch.float64) - low) / max(high - low, 0.001)).clamp(0, 1)
    return plain * (1 - ramp) + plain / options.factor * ramp


class Rope(Encoding):
    """Rotates queries and keys."""

    options_class = RopeOptions

    def __init__(self, options: RopeOptions, shape: Shape) -> None:
        super().__init__()
        if shape.head_width < 2:
            raise UserError(
                "encoding.kind: rope turns pairs of dimensions; heads of width 1 have none, use fewer model.heads"
            )
        self.rotated = max(2, 2 * int(options.share * shape.head_width / 2))
        self.register_buffer("frequencies", frequencies(options, self.rotated), persistent=False)
        self.amplitude = 0.1 * math.log(options.factor) + 1 if options.scaling == "yarn" else 1.0

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        return self._turn(q, q_positions), self._turn(k, k_positions)

    def _turn(self, x: Tensor, positions: Tensor) -> Tensor:
        angles = torch.atleast_2d(positions)[:, None, :, None] * self.get_buffer("frequencies")  # (1 or B, 1, T, R/2)
        cosine, sine = ((self.amplitude * wave).float() for wave in (angles.cos(), angles.sin()))
        first, second, rest = x.split([self.rotated // 2, self.rotated // 2, x.shape[-1] - self.rotated], dim=-1)
        return torch.cat([first * cosine - second * sine, second * cosine + first * sine, rest], dim=-1).to(x.dtype)
