"""Matrix products of many tokens that are few words.

Unless an encoding works positions into the embeddings, the input of the first block is the same for equal tokens. Its
norm and its queries, keys and values are computed once for each word of the vocabulary (118 with hints) and looked up,
instead of once for each of thousands of tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Lookup:
    """Vectors (B, T, W) that are rows of a table (V, W)."""

    table: Tensor
    tokens: Tensor  # (B, T)

    def from_token(self, first: int) -> "Lookup":
        return Lookup(self.table, self.tokens[:, first:])


def together(x: Tensor | Lookup, *layers: nn.Linear) -> Sequence[Tensor]:
    """What several layers make of the same input; in training one product, which is faster than several small ones."""
    if isinstance(x, Lookup):
        table = torch.cat(list(together(x.table, *layers)), dim=-1)
        joined = F.embedding(x.tokens, table)
    elif len(layers) == 1 or not torch.is_grad_enabled():
        return [layer(x) for layer in layers]
    else:
        joined = F.linear(x, torch.cat([layer.weight for layer in layers]))
    return joined.split([layer.out_features for layer in layers], dim=-1)
