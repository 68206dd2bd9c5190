"""The whole model: embeddings, blocks, output."""

import math
from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lengthlab.config.model import ModelOptions
from lengthlab.encodings.encoding import Encoding
from lengthlab.model import flex
from lengthlab.model.attention import Attention, Context, Ids, Recorder, as_encodings
from lengthlab.model.between import fused, geglu, rms_norm
from lengthlab.model.cache import Branch, Cache
from lengthlab.model.flex import Documents
from lengthlab.model.halves import can_be_one, second_half, suits
from lengthlab.model.products import Input, Lookup, Unnormed, has_hooks, together


class RMSNorm(nn.Module):
    """x / sqrt(mean(x^2)) * gain over the last dimension."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.compiled: Callable[..., Tensor] | None = None

    def forward(self, x: Tensor) -> Tensor:
        if self.training and self.compiled is not None:
            # Always a plain matrix: for a table of parameters, or a tensor, another version would be compiled.
            return self.compiled(x.reshape(-1, x.shape[-1]), self.weight).view(x.shape)
        return rms_norm(x, self.weight)


class FeedForward(nn.Module):
    """down(geglu(gate(x), up(x))), three matrices."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        self.compiled: Callable[..., Tensor] | None = None

    def forward(self, x: Tensor) -> Tensor:
        compute = self.compiled if self.training and self.compiled is not None else geglu
        return self.down(compute(*together(x, self.gate, self.up)))


class Block(nn.Module):
    """x + post(attention(pre(x))), then x + post(feedforward(pre(x)))."""

    def __init__(self, options: ModelOptions, encodings: Sequence[Encoding], common_bias: Sequence[bool]) -> None:
        super().__init__()
        self.dropout = options.dropout
        self.attention = Attention(options, encodings, common_bias)
        self.feedforward = FeedForward(options.width, options.feedforward)
        self.norms = nn.ModuleList(RMSNorm(options.width) for _ in range(4))

    def forward(self, x: Tensor, context: Context, layer: int, first: int = 0, words: Lookup | None = None) -> Tensor:
        """(B, T, W) -> (B, T - first, W): the positions before `first` serve as keys and values only.

        `words` says which rows of a table x consists of, if it does.
        """
        _, attention_out, feedforward_in, feedforward_out = norms = cast(list[RMSNorm], list(self.norms))
        watched = has_hooks(self)
        plain = not (self.training and self.dropout) and self.feedforward.compiled is None
        in_halves = plain and not watched and can_be_one(x, self.feedforward.gate.out_features)
        last = x[:, first:].contiguous() if first else x  # once: each slice costs the backward pass zeros and a sum
        asking, normed = self._normed(x, last, None if watched else words, in_halves)
        attended, x = self.attention(asking, normed, context, layer), last
        if in_halves:
            matrices = (self.attention.out, self.feedforward.gate, self.feedforward.up, self.feedforward.down)
            gains = [norm.weight for norm in norms[1:]]
            return second_half(attended, x, gains, *(matrix.weight for matrix in matrices))
        x = x + F.dropout(attention_out(self.attention.out(attended)), self.dropout, self.training)
        made = feedforward_out(self.feedforward(feedforward_in(x)))
        return x + F.dropout(made, self.dropout, self.training)

    def _normed(self, x: Tensor, last: Tensor, words: Lookup | None, in_halves: bool) -> tuple[Input, Input]:
        """What attention makes its queries of, the last positions, and what it makes keys and values of."""
        norm, first = cast(RMSNorm, self.norms[0]), x.shape[1] - last.shape[1]
        if words:  # in fp32 whatever autocast does: gradients of many tokens are added up here
            looked_up = Lookup(rms_norm(words.table, norm.weight), words.tokens)
            return looked_up[:, first:], looked_up
        if in_halves:
            return Unnormed(last, norm.weight), Unnormed(x, norm.weight)
        normed = norm(x)
        return normed[:, first:], normed


class Transformer(nn.Module):
    """Predicts the next token. `build` makes one encoding; it is called again for each layer that has its own."""

    def __init__(
        self, options: ModelOptions, vocabulary: int, build: Sequence[Callable[[], Encoding]], shared: Sequence[bool]
    ) -> None:
        super().__init__()
        self.options = options
        self.embedding = nn.Embedding(vocabulary, options.width)
        first_set = [make() for make in build]
        self.encodings = nn.ModuleList(first_set)
        # A bias that depends on ids alone and has one set of weights is the same in all layers: computed once.
        self.common_bias = [
            share and not encoding.contextual for share, encoding in zip(shared, first_set, strict=True)
        ]
        self.flexes = flex.suits(options, first_set)
        # Unless positions are worked into the embeddings, the first block's products are the same for equal tokens.
        self.looks_up = all(type(encoding).embed is Encoding.embed for encoding in first_set)
        self.blocks = nn.ModuleList()
        for layer in range(options.layers):
            encodings = [
                encoding if share or layer == 0 else make()
                for make, share, encoding in zip(build, shared, first_set, strict=True)
            ]
            self.blocks.append(Block(options, encodings, self.common_bias))
        self.norm = RMSNorm(options.width)
        self.output = nn.Linear(options.width, vocabulary, bias=False)
        self._initialise()
        self.sharpness = 1.0  # multiplies the logits in training; the engine draws it anew for each step
        self.loops = options.loops  # in training; the engine may draw it anew for each step
        self.output_scale = 1.0
        if options.tied:  # the embeddings' unit scale would make the logits too large
            self.output.weight = self.embedding.weight
            self.output_scale = 1 / math.sqrt(options.width)

    @property
    def device(self) -> torch.device:
        return self.embedding.weight.device

    @property
    def in_kernels(self) -> bool:
        """Whether the kernels compute most of it."""
        return self.device.type == "cpu" and suits(self.options.width, self.options.feedforward)

    def fuse(self) -> None:
        """Compile what lies between the matrix products, for training."""
        for module in self.modules():
            if isinstance(module, RMSNorm):
                module.compiled = fused(rms_norm)
            elif isinstance(module, FeedForward):
                module.compiled = fused(geglu)

    def _initialise(self) -> None:
        """Embeddings at unit scale (post-norm would drown smaller ones); matrices keep the scale of their input."""
        if self.options.initial_embeddings == "orthogonal":
            nn.init.orthogonal_(self.embedding.weight, gain=math.sqrt(max(self.embedding.weight.shape)))
        else:
            nn.init.normal_(self.embedding.weight)
        for module in [self.output, *(m for block in self.blocks for m in _matrices(block))]:
            nn.init.normal_(module.weight, std=1 / math.sqrt(module.in_features))
        for attention in (module for module in self.modules() if isinstance(module, Attention)):
            if self.options.initial_keys == "queries":
                attention.k.load_state_dict(attention.q.state_dict())
            if self.options.initial_outputs == "values":
                attention.out.load_state_dict({"weight": attention.v.weight.mT})

    def forward(
        self,
        tokens: Tensor,
        positions: Sequence[Tensor],
        first: int = 0,
        cache: Cache | Branch | None = None,
        prompt: int = 0,
        record: Recorder | None = None,
        documents: Documents | None = None,
    ) -> Tensor:
        """Logits (B, T - first, V) of the token after each of `tokens[:, first:]`.

        `positions` holds, for each encoding, the ids (1 or B, past + T) of all tokens so far, those in the
        cache included. In the last block, tokens before `first` are keys and values only. The first `prompt`
        tokens see each other in both directions if the mask is that of a prefix LM. `record` is told the
        attention of every layer.
        """
        past = cache.length if cache else 0
        total = past + tokens.shape[1]
        given = [Ids(ids[:, past:total], ids[:, :total]) for ids in positions]
        seen = documents.index if documents else torch.arange(past, total, device=tokens.device)[None]
        factor = self._factor(seen)
        x = self.embedding(tokens)
        for encoding, ids in zip(as_encodings(self.encodings), given, strict=True):
            x = encoding.embed(x, ids.queries)
        blocks = None
        if documents is None:
            hidden = self._hidden(past, total, prompt, tokens.device)
        elif self.flexes and flex.works_here(tokens.device):
            blocks = flex.blocks(documents, self.options.mask == "prefix")
            hidden = torch.zeros(1, 1, 1, 1, dtype=torch.bool, device=tokens.device)  # the blocks say it
        else:
            hidden = self._hidden_between(documents)
        reach = self._reach(past, total, total if documents else prompt, tokens.device)
        bias = self._bias(given, hidden, factor)
        context = Context(given, hidden, reach, bias, factor, cache, record, blocks)
        depth, start = len(self.blocks) * (self.loops if self.training else self.options.loops), x
        for layer in range(depth):
            block = layer % len(self.blocks)
            if block == 0 and layer and self.options.injection:
                x = x + start
            words = Lookup(self.embedding.weight, tokens) if layer == 0 and self._has_few_words(tokens) else None
            x = self.blocks[block](x, context, layer, first if layer == depth - 1 else 0, words)
        with torch.autocast(tokens.device.type, enabled=False):  # bf16 would leave the logits two or three digits
            return self.output(self.norm(x) * self.output_scale)

    def _has_few_words(self, tokens: Tensor) -> bool:
        """Whether looking up pays."""
        return self.looks_up and tokens.numel() > 4 * self.embedding.num_embeddings

    def _factor(self, seen: Tensor) -> Tensor | float:
        """What the logits are multiplied by: a number, or (1 or B, 1, Tq, 1) if it grows with the keys.

        `seen` (1 or B, Tq) is how many tokens of its own example come before each query.
        """
        options = self.options
        factor = options.logit_factor * (self.sharpness if self.training else 1.0)
        if not self.training and options.logit_factor_at_test is not None:
            factor = options.logit_factor_at_test
        if options.log_scaling == "none":
            return factor
        keys = seen[:, None, :, None].float() + 1  # a query sees itself
        return factor * torch.log(keys + 1) / math.log(options.log_reference + 1)

    def _hidden(self, past: int, total: int, prompt: int, device: torch.device) -> Tensor:
        """Where a query may not look (1, 1, Tq, Tk): ahead, unless both are in the prompt of a prefix LM."""
        keys, queries = torch.arange(total, device=device), torch.arange(past, total, device=device)[:, None]
        ahead = keys > queries
        hidden = ahead & ~((keys < prompt) & (queries < prompt)) if self.options.mask == "prefix" else ahead
        return hidden[None, None]

    def _reach(self, past: int, total: int, prompt: int, device: torch.device) -> Tensor:
        """How many keys each query sees at most (Tq,): up to itself, or to the end of the prompt of a prefix LM."""
        reach = torch.arange(past + 1, total + 1, device=device)
        return reach.clamp(min=min(prompt, total)) if self.options.mask == "prefix" else reach

    def _hidden_between(self, documents: Documents) -> Tensor:
        """The same for packed rows (R, 1, T, T): other examples are hidden too."""
        number, question = documents.number, documents.question
        columns = torch.arange(number.shape[1], device=number.device)
        hidden = (columns > columns[:, None])[None]
        if self.options.mask == "prefix":
            hidden = hidden & ~(question[:, :, None] & question[:, None, :])
        return (hidden | (number[:, :, None] != number[:, None, :]))[:, None]

    def _bias(self, given: Sequence[Ids], hidden: Tensor, factor: Tensor | float) -> Tensor:
        """The mask and every bias that all layers share: (1 or B, 1 or H, Tq, Tk)."""
        bias = torch.zeros(hidden.shape, device=hidden.device)
        for encoding, common, ids in zip(as_encodings(self.encodings), self.common_bias, given, strict=True):
            extra = encoding.bias(None, None, ids.queries, ids.keys) if common else None
            if extra is not None:
                bias = bias + factor * extra
        return bias.masked_fill(hidden, float("-inf")).contiguous()  # rows of numbers side by side, for all layers


def _matrices(module: nn.Module) -> list[nn.Linear]:
    attention_and_feedforward = [m for m in module.children() if isinstance(m, (Attention, FeedForward))]
    return [m for part in attention_and_feedforward for m in part.children() if isinstance(m, nn.Linear)]
