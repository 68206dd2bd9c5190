"""CoPE: contextual positions (Golovneva et al. 2024, arXiv:2405.18719). Position ids play no part.

gate(i, j)     = sigmoid(logit(i, j))                          how much key j counts for query i
position(i, j) = gate(i, j) + ... + gate(i, i), at most `reach`
b(i, j)        = q_i . e[position(i, j)] / sqrt(D)             e is interpolated between whole positions
"""

import math

import torch
from torch import Tensor, nn

from lengthlab.encodings.encoding import Encoding, Shape
from lengthlab.encodings.options import CopeOptions


class Cope(Encoding):
    """Counts what the query cares about, from itself backwards."""

    options_class = CopeOptions
    contextual = True

    def __init__(self, options: CopeOptions, shape: Shape) -> None:
        super().__init__()
        self.vectors = nn.Parameter(torch.randn(options.reach + 1, shape.head_width) / math.sqrt(shape.head_width))

    def bias(self, q: Tensor | None, k: Tensor | None, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        assert q is not None and k is not None, "a contextual bias is called with queries and keys"
        scale = 1 / math.sqrt(q.shape[-1])
        queries, keys = q.shape[2], k.shape[2]
        past = torch.ones(queries, keys, dtype=torch.bool, device=q.device).tril(keys - queries)
        gates = (scale * q @ k.transpose(-1, -2)).float().sigmoid() * past
        position = gates.flip(-1).cumsum(-1).flip(-1).clamp(max=len(self.vectors) - 1)
        scores = (scale * q @ self.vectors.to(q.dtype).T).float()  # (B, H, Tq, reach + 1)
        below = position.floor().long()
        above = position.ceil().long()
        share = position - below
        return scores.gather(-1, below) * (1 - share) + scores.gather(-1, above) * share
