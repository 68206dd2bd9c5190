"""Self-attention with cached keys. It knows no encoding by name: it calls their hooks."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention.flex_attention import BlockMask

from lengthlab.config import ModelOptions
from lengthlab.encodings.encoding import Encoding
from lengthlab.model import flex


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


@dataclass
class Branch:
    """The first `rows` rows of a finished pass, taken back to `length` tokens and written on from there, in place."""

    layers: dict[int, tuple[Tensor, Tensor]]  # (B, H, T, D) for each layer, T the longest that is to come
    rows: int
    length: int

    def extend(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Write new keys and values over what followed; return all of them up to there, without a copy."""
        end = self.length + k.shape[2]
        keys, values = self.layers[layer]
        keys[: self.rows, :, self.length : end] = k
        values[: self.rows, :, self.length : end] = v
        return keys[: self.rows, :, :end], values[: self.rows, :, :end]


# Hears of every layer's attention: its number, the weights (B, H, Tq, Tk) and what was added to the logits (1 or B, 1
# or H, Tq, Tk), which is infinite where a query may not look.
Record = Callable[[int, Tensor, Tensor], None]


@dataclass(frozen=True)
class Context:
    """What all layers share in one forward pass."""

    positions: Sequence[tuple[Tensor, Tensor]]  # for each encoding: ids of the queries and of all keys
    hidden: Tensor  # (1 or B, 1, Tq, Tk): where a query may not look
    bias: Tensor  # (1 or B, 1 or H, Tq, Tk): -inf where hidden, plus the biases that all layers share
    factor: Tensor | float  # multiplies the logits: a number, or one for each query (1 or B, 1, Tq, 1)
    cache: Cache | Branch | None = None
    record: Record | None = None
    packed: bool = False  # several examples in a row
    blocks: BlockMask | None = None  # in place of the mask in `bias`, where there is nothing else in it


def as_encodings(modules: nn.ModuleList) -> list[Encoding]:
    """The modules of a list that holds encodings only."""
    return cast(list[Encoding], list(modules))


class Attention(nn.Module):
    """Multi-head attention over queries `x[:, first:]` and keys `x`."""

    def __init__(self, options: ModelOptions, encodings: Sequence[Encoding], own_bias: Sequence[bool]) -> None:
        super().__init__()
        width = options.width
        self.heads = options.heads
        self.dropout = options.dropout
        self.weigh = stick_breaking if options.attention == "stick-breaking" else torch.softmax
        self.encodings = nn.ModuleList(encodings)
        self.own_bias = list(own_bias)  # which encodings' biases are not in the context already
        # torch's fused attention never writes the weights. At test, and in the long rows of packed examples if no bias
        # is learned, that is faster.
        plain = options.attention == "softmax" and options.log_scaling != "learned"
        self.fusable = plain and all(type(encoding).mix is Encoding.mix for encoding in encodings)
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        learned = options.log_scaling == "learned"
        self.log_scale = nn.Parameter(torch.ones(options.heads, 1, 1)) if learned else None

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (B, T, W) -> (B, H, T, D)

    def forward(self, x: Tensor, context: Context, layer: int, first: int = 0) -> Tensor:
        q, k, v = self._split(self.q(x[:, first:])), self._split(self.k(x)), self._split(self.v(x))
        encodings = as_encodings(self.encodings)
        new = x.shape[1]
        ids = [(q_ids[:, first:], k_ids) for q_ids, k_ids in context.positions]
        for encoding, (q_ids, k_ids) in zip(encodings, ids, strict=True):
            q, k = encoding.rotate(q, k, q_ids, k_ids[:, -new:])
        if context.cache is not None:
            k, v = context.cache.extend(layer, k, v)

        factor = context.factor[:, :, first:] if isinstance(context.factor, Tensor) else context.factor
        if context.blocks is not None:
            assert isinstance(factor, float), "flex.suits lets no factor through that varies with the query"
            attended = flex.attend(q, k, v, context.blocks, factor / math.sqrt(q.shape[-1]))
            return self.out(attended.transpose(1, 2).flatten(2))
        bias = context.bias[:, :, first:]
        for encoding, own, (q_ids, k_ids) in zip(encodings, self.own_bias, ids, strict=True):
            extra = encoding.bias(q, k, q_ids, k_ids) if own else None
            if extra is not None:
                bias = bias + factor * extra
        q = q * (factor / math.sqrt(q.shape[-1]))
        testing = not torch.is_grad_enabled() and not self.training
        long_rows = context.packed and not bias.requires_grad and not self.dropout
        if self.fusable and context.record is None and (testing or long_rows):
            attended = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype), scale=1.0)
            return self.out(attended.transpose(1, 2).flatten(2))
        logits = q @ k.transpose(-1, -2) + bias
        if self.log_scale is not None:  # all logits but the hidden ones, whose infinity has no gradient
            hidden = context.hidden[:, :, first:]
            logits = (logits.masked_fill(hidden, 0.0) * self.log_scale).masked_fill(hidden, float("-inf"))
        weights = F.dropout(self.weigh(logits, -1), self.dropout, self.training)
        if context.record is not None:
            context.record(layer, weights, bias if self.log_scale is None else bias * self.log_scale)
        attended = weights @ v
        for encoding, (q_ids, k_ids) in zip(encodings, ids, strict=True):
            mixed = encoding.mix(weights, q_ids, k_ids)
            attended = attended if mixed is None else attended + mixed
        return self.out(attended.transpose(1, 2).flatten(2))


def stick_breaking(logits: Tensor, dim: int) -> Tensor:
    """Weights of stick-breaking attention (Tan et al. 2024, arXiv:2410.17980) over the last dimension.

    weight(i, j) = sigmoid(z_ij) * product over j < l < i of (1 - sigmoid(z_il)): the nearest key that wants the query
    takes its share first, what is left goes on to the left. A query does not see itself; the last key of the last
    query is that query.
    """
    queries, keys = logits.shape[-2:]
    visible = torch.ones(queries, keys, dtype=torch.bool, device=logits.device).tril(keys - queries - 1)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32)).masked_fill(~visible, float("-inf"))
    passed_on = F.logsigmoid(-logits).masked_fill(~visible, 0.0)  # log(1 - sigmoid)
    later = passed_on.flip(dim).cumsum(dim).flip(dim) - passed_on
    return torch.exp(F.logsigmoid(logits) + later)
