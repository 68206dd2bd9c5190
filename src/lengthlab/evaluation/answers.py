"""What greedy decoding gives, without decoding what is right: verify, then decode.

One pass over the true answers tells for every row how far greedy decoding would follow the truth. Only rows that leave
it are decoded, from the first token that differs, on the keys and values that the pass has left.

Rounding: a pass over many tokens and a pass over one may differ in a logit's last bits, so a token whose lead over the
second is below `TIE` counts as not verified and is decoded like the wrong ones. Of logits that are exactly equal the
lower token wins.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lengthlab.batches import Batch
from lengthlab.formats.vocabulary import END, PAD
from lengthlab.model.attention import Branch, Cache
from lengthlab.model.transformer import Transformer

TIE = 1e-4  # lead of the likeliest token, in logits, that no rounding overturns
NUMBERS_AT_ONCE = 2**26  # attention logits of a layer, keys and values in memory at a time


@dataclass(frozen=True)
class Answers:
    """What a model says to a batch, each (B, A) for the A tokens of the true answer and its end."""

    produced: Tensor  # greedy decoding; PAD after the end token; cut where the true answer ends
    forced: Tensor  # the likeliest token after the true tokens before it

    @staticmethod
    def joined(parts: list["Answers"]) -> "Answers":
        return Answers(torch.cat([p.produced for p in parts]), torch.cat([p.forced for p in parts]))


def rows_at_once(model: Transformer, columns: int) -> int:
    """How many rows of this many tokens are computed together."""
    options = model.options
    numbers = options.heads * columns**2 + 2 * options.layers * options.loops * options.width * columns
    return max(1, NUMBERS_AT_ONCE // numbers)


@torch.no_grad()
def answers(model: Transformer, batch: Batch) -> Answers:
    """Exactly what greedy decoding says to every row."""
    parts = batch.split(rows_at_once(model, batch.tokens.shape[1]))
    return Answers.joined([_answers(model, part.to(model.device)) for part in parts])


@torch.no_grad()
def is_correct(model: Transformer, batch: Batch) -> Tensor:
    """For each row (B,), whether greedy decoding would give exactly the true answer and its end; nothing is decoded."""
    parts = batch.split(rows_at_once(model, batch.tokens.shape[1]))
    return torch.cat([_is_correct(model, part.to(model.device)) for part in parts])


def _is_correct(model: Transformer, batch: Batch) -> Tensor:
    forced = model(batch.inputs, batch.positions, first=batch.answer - 1, prompt=batch.answer).argmax(-1)
    return ((forced == batch.targets) | (batch.targets == PAD)).all(dim=1).cpu()


def _answers(model: Transformer, batch: Batch) -> Answers:
    cache = Cache()
    logits = model(batch.inputs, batch.positions, first=batch.answer - 1, cache=cache, prompt=batch.answer)
    forced, targets = logits.argmax(-1), batch.targets
    best = logits.topk(2).values
    sure = (forced == targets) & (best[..., 0] - best[..., 1] > TIE) | (targets == PAD)
    produced = targets.clone()
    followed = sure.long().cumprod(dim=1).sum(dim=1)  # how many tokens of the truth each row follows for certain
    wrong = (followed < targets.shape[1]).nonzero().flatten()
    if len(wrong):
        wrong = wrong[followed[wrong].argsort(stable=True)]
        produced[wrong] = _decode(model, batch, cache, wrong, followed[wrong])
    return Answers(produced.cpu(), forced.cpu())


def _decode(model: Transformer, batch: Batch, cache: Cache, rows: Tensor, followed: Tensor) -> Tensor:
    """Greedy answers of `rows`, which follow the truth for `followed` tokens, in rising order.

    At each step the rows that have left the truth by then are the first ones, so the keys are used where they lie.
    """
    layers = {layer: (k[rows], v[rows]) for layer, (k, v) in cache.layers.items()}
    positions = [ids if len(ids) == 1 else ids[rows] for ids in batch.positions]
    tokens = batch.tokens[rows].clone()
    ended = torch.zeros(len(rows), dtype=torch.bool, device=tokens.device)
    starts = followed.tolist()
    count = 0
    for column in range(batch.answer + starts[0], tokens.shape[1]):
        while count < len(starts) and starts[count] <= column - batch.answer:
            count += 1
        if bool(ended[:count].all()):
            tokens[:count, column] = PAD
            continue
        branch = Branch(layers, count, column - 1)
        ids = [i if len(i) == 1 else i[:count] for i in positions]
        logits = model(tokens[:count, column - 1 : column], ids, cache=branch, prompt=batch.answer)
        token = torch.where(ended[:count], PAD, logits[:, -1].argmax(-1))
        tokens[:count, column] = token
        ended[:count] |= token == END
    return tokens[:, batch.answer :]
