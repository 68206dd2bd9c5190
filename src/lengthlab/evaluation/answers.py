"""What a model says by greedy decoding: token by token (`decode`), or without decoding what is right (`answers`).

Verify, then decode: one pass over the true answers shows for every row how far greedy decoding would follow the truth.
Only rows that leave it are decoded, from the first token that differs, on the keys and values that the pass has left.

Rounding: a pass over many tokens and a pass over one may differ in a logit's last bits, so a token whose lead over the
second is below `TIE` of the largest logit counts as not verified and is decoded like the wrong ones. Of logits that are
exactly equal the lower token wins.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lengthlab.batches import Batch
from lengthlab.formats.vocabulary import END, PAD
from lengthlab.model.cache import Branch, Cache
from lengthlab.model.transformer import Transformer

TIE = 1e-4  # lead of the likeliest token, as a share of the largest logit (at least 1), that no rounding overturns
NUMBERS_AT_ONCE = 2**25  # in memory at a time: what is added to the logits, keys and values, activations of a layer
BIAS_AT_ONCE = 2**20  # of one row: long rows are read in parts, or what is added to the logits would fill the memory


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
    options, part = model.options, columns_at_once(model, columns)
    kept = 2 * options.layers * options.loops * options.width * columns
    numbers = options.heads * part * columns + kept + (10 * options.width + 3 * options.feedforward) * part
    return max(1, NUMBERS_AT_ONCE // numbers)


def columns_at_once(model: Transformer, columns: int) -> int:
    """How many tokens of rows of this many go through the model together."""
    if model.options.mask == "prefix":  # the question sees itself whole
        return columns
    return min(columns, max(16, BIAS_AT_ONCE // (model.options.heads * columns)))


def read(model: Transformer, batch: Batch, cache: Cache) -> Tensor:
    """Logits (B, A, V) of the answer and its end after the true tokens before them; the cache is filled."""
    first, columns = batch.answer - 1, batch.inputs.shape[1]
    part, logits = columns_at_once(model, columns), []
    for start in range(0, columns, part):
        tokens = batch.inputs[:, start : start + part]
        wanted = first - start
        skipped = min(max(0, wanted), tokens.shape[1] - 1)
        new = model(tokens, batch.positions, first=skipped, cache=cache, prompt=batch.answer)
        if wanted < tokens.shape[1]:
            logits.append(new)
    return torch.cat(logits, dim=1)


@torch.no_grad()
def decode(model: Transformer, batch: Batch) -> Tensor:
    """The model's own answers (B, A): the most likely token again and again, PAD after the end token.

    Only the prompt of `batch` is read. A is the number of tokens of the true answer and its end: what has
    not ended by then is wrong, and is cut there.
    """
    batch = batch.to(model.device)
    wanted = batch.tokens.shape[1] - batch.answer
    produced = torch.full((len(batch.tokens), wanted), PAD, device=model.device)
    ended = torch.zeros(len(batch.tokens), dtype=torch.bool, device=model.device)
    tokens, cache = batch.tokens[:, : batch.answer], Cache(batch.inputs.shape[1])
    for index in range(wanted):
        logits = model(tokens, batch.positions, first=tokens.shape[1] - 1, cache=cache, prompt=batch.answer)
        token = logits[:, -1].argmax(-1)
        produced[:, index] = torch.where(ended, PAD, token)
        ended |= token == END
        if ended.all():
            break
        tokens = token[:, None]
    return produced.cpu()


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
    forced = read(model, batch, Cache(batch.inputs.shape[1])).argmax(-1)
    return ((forced == batch.targets) | (batch.targets == PAD)).all(dim=1).cpu()


def _answers(model: Transformer, batch: Batch) -> Answers:
    cache = Cache(batch.inputs.shape[1])
    logits = read(model, batch, cache)
    forced, targets = logits.argmax(-1), batch.targets
    best = logits.topk(2).values
    scale = logits.abs().amax(dim=-1).clamp(min=1)
    sure = (forced == targets) & (best[..., 0] - best[..., 1] > TIE * scale) | (targets == PAD)
    produced = targets.clone()
    followed = sure.long().cumprod(dim=1).sum(dim=1)  # how many tokens of the truth each row follows for certain
    wrong = (followed < targets.shape[1]).nonzero().flatten()
    if len(wrong):
        wrong = wrong[followed[wrong].argsort(stable=True)]
        produced[wrong] = decode_rest(model, batch, cache, wrong, followed[wrong])
    return Answers(produced.cpu(), forced.cpu())


def decode_rest(model: Transformer, batch: Batch, cache: Cache, rows: Tensor, followed: Tensor) -> Tensor:
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
