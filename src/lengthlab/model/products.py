"""Products of one input with several matrices, such as queries, keys and values.

The input may be more than numbers. It may be known to be *few words*: unless an encoding works positions into the
embeddings, the input of the first block is the same for equal tokens; its norm and its products are computed once for
each word of the vocabulary (118 with hints) and looked up, instead of once for each of thousands of tokens. Or it may
still have to be *normed*, which a kernel does in passing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lengthlab.model.halves import first_half


@dataclass(frozen=True)
class Lookup:
    """Vectors (B, T, W) that are rows of a table (V, W)."""

    table: Tensor
    tokens: Tensor  # (B, T)

    @property
    def shape(self) -> torch.Size:
        return torch.Size([*self.tokens.shape, self.table.shape[1]])

    def __getitem__(self, part: tuple[slice, slice]) -> "Lookup":
        return Lookup(self.table, self.tokens[part])


@dataclass(frozen=True)
class Unnormed:
    """Vectors (B, T, W) whose norm is the input."""

    x: Tensor
    gain: Tensor  # (W,)

    @property
    def shape(self) -> torch.Size:
        return self.x.shape


Input = Tensor | Lookup | Unnormed


def together(x: Input, *layers: nn.Linear) -> Sequence[Tensor]:
    """What several layers make of the same input; in training one product, which is faster than several small ones."""
    if isinstance(x, Unnormed):
        return first_half(x.x, x.gain, [layer.weight for layer in layers])
    if isinstance(x, Lookup):
        device = x.tokens.device.type
        kind = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else x.table.dtype
        with torch.autocast(device, enabled=False):
            return [_Rows.apply(layer(x.table), x.tokens, kind) for layer in layers]
    if len(layers) == 1 or not torch.is_grad_enabled() or any(map(has_hooks, layers)):
        return [layer(x) for layer in layers]
    joined = F.linear(x, torch.cat([layer.weight for layer in layers]))
    return joined.split([layer.out_features for layer in layers], dim=-1)


def has_hooks(module: nn.Module) -> bool:
    """Whether somebody wants to see all that goes through a module and its parts: the short ways do not call them."""
    return any(
        part._forward_hooks or part._forward_pre_hooks or part._backward_hooks or part._backward_pre_hooks
        for part in module.modules()
    )


class _Rows(torch.autograd.Function):
    """Rows of a table in the precision asked for; their gradients are added up in the table's own."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, tokens: Tensor, kind: torch.dtype) -> Tensor:
        ctx.save_for_backward(tokens)
        ctx.table = table.dtype, len(table)
        return F.embedding(tokens, table.to(kind))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (tokens,) = ctx.saved_tensors
        kind, rows = ctx.table
        return torch.ops.aten.embedding_dense_backward(gradients[0].to(kind), tokens, rows, -1, False), None, None
