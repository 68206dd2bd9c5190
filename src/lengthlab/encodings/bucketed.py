"""Biases looked up in a small table of distances: T5's logarithmic buckets, and clipped differences."""

import math

import torch
from torch import Tensor, nn

from lengthlab.encodings.encoding import Encoding, Shape, distances
from lengthlab.encodings.options import ClippedOptions, T5Options


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
