"""FIRE: functional interpolation for relative positions (Li et al. 2023, arXiv:2310.04418).

    b(i, j) = f(psi(i - j) / psi(max(L, i))),    psi(x) = log(c x + 1)

for a query at i and a key at j <= i. c and L are learned and positive; f is an MLP 1 -> 32 -> heads
with ReLU. Beyond L the distance is measured as a share of the query's own position, so that an input
of f never leaves [0, 1], whatever the length.
"""

import torch
from torch import Tensor, nn

from lengthlab.encodings.encoding import Encoding, Shape, distances
from lengthlab.encodings.options import FireOptions


class Fire(Encoding):
    """The bias above, one output of f for each head."""

    options_class = FireOptions
    relative = False  # beyond L the query's own position counts

    def __init__(self, options: FireOptions, shape: Shape) -> None:
        super().__init__()
        self.initial_threshold = options.threshold
        self.c = nn.Parameter(torch.tensor(options.c))
        self.threshold = nn.Parameter(torch.tensor(1.0))  # L, in units of its initial value
        self.hidden = nn.Linear(1, options.units)
        self.output = nn.Linear(options.units, shape.heads)

    def bias(self, q: Tensor | None, k: Tensor | None, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        c = self.c.abs()
        threshold = (self.threshold * self.initial_threshold).abs()
        distance = torch.log1p(c * distances(q_positions, k_positions).abs())
        longest = torch.log1p(c * torch.maximum(q_positions.to(c.dtype), threshold))[:, :, None]
        share = (distance / (longest + 1e-6)).unsqueeze(-1)  # (1 or B, Tq, Tk, 1)
        return self.output(torch.relu(self.hidden(share))).permute(0, 3, 1, 2)
