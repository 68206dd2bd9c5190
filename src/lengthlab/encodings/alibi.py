"""Fixed penalties on distance: ALiBi, and hard-ALiBi's windows."""

import math

import torch
from torch import Tensor

from lengthlab.config.sections import EncodingOptions
from lengthlab.encodings.encoding import Encoding, Shape, distances
from lengthlab.encodings.options import HardAlibiOptions
from lengthlab.errors import UserError


def alibi_slopes(heads: int) -> list[float]:
    """2^(-8k/H), k = 1..H; if H is no power of two: those of the power below, then every other of the one above."""
    lower = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * k / lower) for k in range(1, lower + 1)]
    between = [2 ** (-8 * k / (2 * lower)) for k in range(1, 2 * lower + 1, 2)]
    return slopes + between[: heads - lower]


class Alibi(Encoding):
    """b(i, j) = -slope |i - j|, nothing learned (Press et al. 2022, arXiv:2108.12409)."""

    def __init__(self, options: EncodingOptions, shape: Shape) -> None:
        super().__init__()
        self.register_buffer("slopes", torch.tensor(alibi_slopes(shape.heads))[:, None, None], persistent=False)

    def bias(self, q: Tensor | None, k: Tensor | None, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        return -self.get_buffer("slopes") * distances(q_positions, k_positions).abs()[:, None]


class HardAlibi(Encoding):
    """b(i, j) = 0 if |i - j| < window, else minus infinity (Jelassi et al. 2024, arXiv:2402.01032).

    Its place is taken by -10,000, which no softmax tells from it and which has a gradient.
    """

    options_class = HardAlibiOptions

    def __init__(self, options: HardAlibiOptions, shape: Shape) -> None:
        super().__init__()
        if len(options.windows) > shape.heads:
            raise UserError(
                f"encoding.windows: {len(options.windows)} windows for {shape.heads} heads; give at most one for each"
            )
        chosen = [*(options.windows or range(1, shape.heads // 2 + 1)), *[0] * shape.heads][: shape.heads]
        windows = torch.tensor([window or torch.iinfo(torch.int64).max for window in chosen])
        self.register_buffer("windows", windows[:, None, None], persistent=False)

    def bias(self, q: Tensor | None, k: Tensor | None, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        outside = distances(q_positions, k_positions).abs()[:, None] >= self.get_buffer("windows")
        return torch.zeros(outside.shape, device=outside.device).masked_fill(outside, -1e4)
