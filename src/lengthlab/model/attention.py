"""Causal self-attention with cached keys. It knows no encoding by name: it calls their hooks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lengthlab.encodings.encoding import Encoding


@dataclass
class Cache:
    """Keys and values of the tokens seen so far, one pair (B, H, T, D) for each layer."""

    layers: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)

    @property
    def length(self) -> int:
        return self.layers[0][0].shape[2] if self.layers else 0

    def extend(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Append new keys and values; return all of them."""
        if layer in self.layers:
            old_k, old_v = self.layers[layer]
            k, v = torch.cat([old_k, k], dim=2), torch.cat([old_v, v], dim=2)
        self.layers[layer] = (k, v)
        return k, v

    def select(self, rows: Tensor) -> None:
        """Keep only these rows of the batch."""
        self.layers = {layer: (k[rows], v[rows]) for layer, (k, v) in self.layers.items()}


@dataclass(frozen=True)
class Context:
    """What all layers share in one forward pass."""

    positions: Sequence[tuple[Tensor, Tensor]]  # for each encoding: ids of the queries and of all keys
    bias: Tensor  # (1 or B, 1 or H, Tq, Tk): -inf where a query may not look, plus the biases all layers share
    factor: float  # multiplies the logits
    cache: Cache | None = None


def as_encodings(modules: nn.ModuleList) -> list[Encoding]:
    """The modules of a list that holds encodings only."""
    return cast(list[Encoding], list(modules))


class Attention(nn.Module):
    """Multi-head attention over queries `x[:, first:]` and keys `x`."""

    def __init__(
        self, width: int, heads: int, encodings: Sequence[Encoding], own_bias: Sequence[bool], dropout: float
    ) -> None:
        super().__init__()
        self.heads = heads
        self.encodings = nn.ModuleList(encodings)
        self.own_bias = list(own_bias)  # which encodings' biases are not in the context already
        self.dropout = dropout
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (B, T, W) -> (B, H, T, D)

    def forward(self, x: Tensor, context: Context, layer: int, first: int = 0) -> Tensor:
        q, k, v = self._split(self.q(x[:, first:])), self._split(self.k(x)), self._split(self.v(x))
        new = x.shape[1]
        for encoding, (q_positions, k_positions) in zip(as_encodings(self.encodings), context.positions, strict=True):
            q, k = encoding.rotate(q, k, q_positions[:, first:], k_positions[:, -new:])
        if context.cache is not None:
            k, v = context.cache.extend(layer, k, v)

        bias = context.bias[:, :, first:]
        for encoding, own, (q_positions, k_positions) in zip(
            as_encodings(self.encodings), self.own_bias, context.positions, strict=True
        ):
            if own:
                extra = encoding.bias(q, k, q_positions[:, first:], k_positions)
                bias = bias if extra is None else bias + context.factor * extra
        logits = (q * (context.factor / math.sqrt(q.shape[-1]))) @ k.transpose(-1, -2) + bias
        weights = F.dropout(logits.softmax(-1), self.dropout, self.training)
        return self.out((weights @ v).transpose(1, 2).flatten(2))
