"""Self-attention with cached keys: project, attend, mix. It knows no encoding by name: it calls their hooks."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention.flex_attention import BlockMask

from lengthlab.config.axes import ATTENTIONS
from lengthlab.config.model import ModelOptions
from lengthlab.encodings.encoding import Encoding
from lengthlab.model import flex
from lengthlab.model.biased import biased_attention
from lengthlab.model.cache import Branch, Cache
from lengthlab.model.products import Input, together

FEW = 8  # queries below which torch's own fused attention is faster than ours, if nothing has a gradient


# Hears of every layer's attention: its number, the weights (B, H, Tq, Tk) and what was added to the logits (1 or B, 1
# or H, Tq, Tk), which is infinite where a query may not look.
Recorder = Callable[[int, Tensor, Tensor], None]


# How logits (B, H, Tq, Tk) become weights over the dimension given; see ATTENTIONS.
Weigh = Callable[[Tensor, int], Tensor]


@dataclass(frozen=True)
class Ids:
    """Position ids (1 or B, T) that one encoding is given: of the queries, and of all keys."""

    queries: Tensor
    keys: Tensor


@dataclass(frozen=True)
class Context:
    """What all layers share in one forward pass."""

    ids: Sequence[Ids]  # for each encoding
    hidden: Tensor  # (1 or B, 1, Tq, Tk): where a query may not look
    reach: Tensor  # (Tq,): how many keys each query sees at most, never fewer than the one before it
    bias: Tensor  # (1 or B, 1 or H, Tq, Tk): -inf where hidden, plus the biases that all layers share
    factor: Tensor | float  # multiplies the logits: a number, or one for each query (1 or B, 1, Tq, 1)
    cache: Cache | Branch | None = None
    record: Recorder | None = None
    blocks: BlockMask | None = None  # in place of the mask in `bias`, where there is nothing else in it

    def from_query(self, first: int) -> "Context":
        """The same for the queries from `first` on."""
        if first == 0:
            return self
        return replace(
            self,
            ids=[Ids(ids.queries[:, first:], ids.keys) for ids in self.ids],
            hidden=self.hidden[:, :, first:],
            reach=self.reach[first:],
            bias=self.bias[:, :, first:],
            factor=self.factor[:, :, first:] if isinstance(self.factor, Tensor) else self.factor,
        )


@dataclass(frozen=True)
class Acting:
    """An encoding at work in a layer, on its ids."""

    encoding: Encoding
    ids: Ids
    in_context: bool  # whether its bias is in the context already

    def rotate(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        return self.encoding.rotate(q, k, self.ids.queries, self.ids.keys[:, -k.shape[2] :])

    def bias(self, q: Tensor, k: Tensor) -> Tensor | None:
        return None if self.in_context else self.encoding.bias(q, k, self.ids.queries, self.ids.keys)

    def mix(self, weights: Tensor) -> Tensor | None:
        return self.encoding.mix(weights, self.ids.queries, self.ids.keys)


def as_encodings(modules: nn.ModuleList) -> list[Encoding]:
    """The modules of a list that holds encodings only."""
    return cast(list[Encoding], list(modules))


class Attention(nn.Module):
    """Multi-head attention of the last positions to all."""

    def __init__(self, options: ModelOptions, encodings: Sequence[Encoding], common_bias: Sequence[bool]) -> None:
        super().__init__()
        width = options.width
        self.heads = options.heads
        self.dropout = options.dropout
        self.weigh: Weigh = ATTENTIONS[options.attention].load()
        self.encodings = nn.ModuleList(encodings)
        self.common_bias = list(common_bias)  # which encodings' biases are in the context already
        learned = options.log_scaling == "learned"
        # Whether it is softmax(q k + bias) v and nothing else: then nobody needs to see the weights.
        plain = self.weigh is softmax and not learned
        self.plain = plain and all(type(encoding).mix is Encoding.mix for encoding in encodings)
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.log_scale = nn.Parameter(torch.ones(options.heads, 1, 1)) if learned else None

    def forward(self, asking: Input, x: Input, context: Context, layer: int) -> Tensor:
        """What all heads found, side by side and before the output matrix: (B, Tq, W).

        Queries are made of `asking`, which is x or its last positions; keys and values of x.
        """
        context = context.from_query(x.shape[1] - asking.shape[1])
        pairs = zip(as_encodings(self.encodings), context.ids, self.common_bias, strict=True)
        acting = [Acting(encoding, ids, in_context) for encoding, ids, in_context in pairs]
        q, k, v = self.project(asking, x, acting)
        if context.cache is not None:
            k, v = context.cache.extend(layer, k, v)
        if context.blocks is not None:
            assert isinstance(context.factor, float), "flex.suits lets no factor through that varies with the query"
            attended = flex.attend(q, k, v, context.blocks, context.factor / math.sqrt(q.shape[-1]))
        else:
            attended = self.attend(q, k, v, acting, context, layer)
        return attended.transpose(1, 2).flatten(2)

    def project(self, asking: Input, x: Input, acting: Sequence[Acting]) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, rotated: (B, H, T, D)."""
        if asking.shape == x.shape and torch.is_grad_enabled():
            q, k, v = together(x, self.q, self.k, self.v)
        else:
            (q,), (k, v) = together(asking, self.q), together(x, self.k, self.v)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (q, k, v))
        for one in acting:
            q, k = one.rotate(q, k)
        return q, k, v

    def attend(self, q: Tensor, k: Tensor, v: Tensor, acting: Sequence[Acting], context: Context, layer: int) -> Tensor:
        """What each query finds: (B, H, Tq, D)."""
        bias, factor = context.bias, context.factor
        for one in acting:
            extra = one.bias(q, k)
            bias = bias if extra is None else bias + factor * extra
        scale = 1 / math.sqrt(q.shape[-1])
        q, scale = (q * factor, scale) if isinstance(factor, Tensor) else (q, factor * scale)
        seen_by_nobody = self.plain and context.record is None and not (self.dropout and self.training)
        decoding = not torch.is_grad_enabled() and q.shape[2] < FEW
        if seen_by_nobody and q.device.type == "cpu" and not decoding:
            return biased_attention(q, k, v, bias, scale, context.reach)
        if seen_by_nobody and not bias.requires_grad:
            return F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype), scale=scale)
        weights = F.dropout(self.weights(q, k, bias, scale, context.hidden), self.dropout, self.training)
        if context.record is not None:
            context.record(layer, weights, bias if self.log_scale is None else bias * self.log_scale)
        return mix(weights, v, acting)

    def weights(self, q: Tensor, k: Tensor, bias: Tensor, scale: float, hidden: Tensor) -> Tensor:
        """How much each query takes of each key, written out: (B, H, Tq, Tk)."""
        logits = (q * scale) @ k.transpose(-1, -2) + bias
        if self.log_scale is not None:  # all logits but the hidden ones, whose infinity has no gradient
            logits = (logits.masked_fill(hidden, 0.0) * self.log_scale).masked_fill(hidden, float("-inf"))
        return self.weigh(logits, -1)


def mix(weights: Tensor, v: Tensor, acting: Sequence[Acting]) -> Tensor:
    """The values, weighed, and what the encodings add to them."""
    attended = weights @ v
    for one in acting:
        extra = one.mix(weights)
        attended = attended if extra is None else attended + extra
    return attended


def softmax(logits: Tensor, dim: int) -> Tensor:
    """The usual weights: exp(z_ij) / sum over l of exp(z_il)."""
    return torch.softmax(logits, dim)


def stick_breaking(logits: Tensor, dim: int) -> Tensor:
    """Weights of stick-breaking attention (Tan et al. 2024, arXiv:2410.17980) over the last dimension.

    weight(i, j) = sigmoid(z_ij) * product over j < l < i of (1 - sigmoid(z_il)): the nearest key that wants the query
    takes its share first, what is left passes on to the left. A query does not see itself; the last key of the last
    query is that query.
    """
    queries, keys = logits.shape[-2:]
    visible = torch.ones(queries, keys, dtype=torch.bool, device=logits.device).tril(keys - queries - 1)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32)).masked_fill(~visible, float("-inf"))
    passed_on = F.logsigmoid(-logits).masked_fill(~visible, 0.0)  # log(1 - sigmoid)
    later = passed_on.flip(dim).cumsum(dim).flip(dim) - passed_on
    return torch.exp(F.logsigmoid(logits) + later)
