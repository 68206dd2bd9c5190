"""Shaw relative positions (Shaw et al. 2018, arXiv:1803.02155): a learned vector for each clipped distance.

    logit(i, j) = q_i . (k_j + a[clip(j - i)]) / sqrt(D)            equation 4
    output(i)   = sum_j weight(i, j) (v_j + b[clip(j - i)])         equation 3, if `values`

with clip to -reach..reach. The vectors are shared by the heads of a layer.
"""

import math

import torch
from torch import Tensor, nn

from lengthlab.encodings.encoding import Encoding, Shape, distances
from lengthlab.encodings.options import ShawOptions


class Shaw(Encoding):
    """Relative vectors on keys and, if asked for, on values."""

    options_class = ShawOptions
    contextual = True

    def __init__(self, options: ShawOptions, shape: Shape) -> None:
        super().__init__()
        self.reach = options.reach
        rows = 2 * options.reach + 1
        self.keys = nn.Parameter(torch.randn(rows, shape.head_width) / math.sqrt(shape.head_width))
        self.values = (
            nn.Parameter(torch.randn(rows, shape.head_width) / math.sqrt(shape.head_width)) if options.values else None
        )

    def _rows(self, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        """The row of each pair: (1 or B, Tq, Tk), 0 for the farthest key to the left."""
        return (-distances(q_positions, k_positions)).clamp(-self.reach, self.reach) + self.reach

    def bias(self, q: Tensor | None, k: Tensor | None, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        assert q is not None, "a contextual bias is called with queries and keys"
        scores = q @ self.keys.to(q.dtype).T / math.sqrt(q.shape[-1])  # (B, H, Tq, rows)
        rows = self._rows(q_positions, k_positions)[:, None].expand(*scores.shape[:3], -1)
        return scores.gather(-1, rows)

    def mix(self, weights: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor | None:
        if self.values is None:
            return None
        rows = self._rows(q_positions, k_positions)[:, None].expand_as(weights)
        by_row = weights.new_zeros(*weights.shape[:3], 2 * self.reach + 1).scatter_add(-1, rows, weights)
        return by_row @ self.values.to(weights.dtype)
