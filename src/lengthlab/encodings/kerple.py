"""KERPLE (Chi et al. 2022, arXiv:2205.09921): learned, positive-definite penalties on distance.

    logarithmic   b(i, j) = -r1 log(1 + r2 |i - j|)
    power         b(i, j) = -r1 |i - j|^r2

r1 and r2 are learned for each head and kept positive; the initial values and bounds are the authors'.
"""

import torch
from torch import Tensor, nn

from lengthlab.config.sections import EncodingOptions
from lengthlab.encodings.encoding import Encoding, Shape, distances

SMALLEST = 1e-2


class KerpleLog(Encoding):
    """r1 ~ U(0, 2), r2 ~ U(0, 1), both at least 0.01."""

    def __init__(self, options: EncodingOptions, shape: Shape) -> None:
        super().__init__()
        self.r1 = nn.Parameter(torch.rand(shape.heads, 1, 1) * 2)
        self.r2 = nn.Parameter(torch.rand(shape.heads, 1, 1))

    def bias(self, q: Tensor | None, k: Tensor | None, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        distance = distances(q_positions, k_positions).abs()[:, None]
        return -bounded(self.r1, SMALLEST) * torch.log1p(bounded(self.r2, SMALLEST) * distance)


class KerplePower(Encoding):
    """r1 ~ U(0, 2), r2 ~ U(0, 2), both at least 0.01, r2 at most 2."""

    def __init__(self, options: EncodingOptions, shape: Shape) -> None:
        super().__init__()
        self.r1 = nn.Parameter(torch.rand(shape.heads, 1, 1) * 2)
        self.r2 = nn.Parameter(torch.rand(shape.heads, 1, 1) * 2)

    def bias(self, q: Tensor | None, k: Tensor | None, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        distance = distances(q_positions, k_positions).abs()[:, None]
        safe = distance.clamp(min=1).float() ** bounded(self.r2, SMALLEST, 2.0)  # 0^r has no finite gradient in r
        return -bounded(self.r1, SMALLEST) * torch.where(distance == 0, 0.0, safe)


def bounded(parameter: Tensor, low: float, high: float = float("inf")) -> Tensor:
    """The parameter within its bounds; where it has left them, the gradient may still bring it back."""
    return parameter + (parameter.clamp(low, high) - parameter).detach()
