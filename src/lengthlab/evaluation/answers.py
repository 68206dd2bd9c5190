"""What a model says by greedy decoding: token by token (`decode`), or without decoding what is right (`answers`).

Verify, then decode: one pass over the true answers shows for every row how far greedy decoding would follow the truth.
Only rows that leave it are decoded, from the first token that differs, on the keys and values that the pass has left;
those of several batches together, for a step over one token takes as long with few rows as with many.

Rounding: a pass over many tokens and a pass over one may differ in a logit's last bits, so a token whose lead over the
second is below `TIE` of the largest logit counts as not verified and is decoded like the wrong ones. Of logits that are
exactly equal the lower token wins.
"""

from collections.abc import Sequence
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


@dataclass(frozen=True)
class Strays:
    """Rows of one shape that leave the truth, with the keys and values of the pass that has shown it."""

    tokens: Tensor  # (N, T): the question and the true answer
    positions: list[Tensor]  # (1 or N, T) for each encoding
    layers: dict[int, tuple[Tensor, Tensor]]  # (N, H, T, D)
    followed: Tensor  # (N,): how many tokens of the truth each row follows for certain, in rising order
    answer: int  # where it begins

    @staticmethod
    def of(batch: Batch, cache: Cache, rows: Tensor, followed: Tensor) -> "Strays":
        layers = {layer: (k[rows], v[rows]) for layer, (k, v) in cache.layers.items()}
        positions = [ids if len(ids) == 1 else ids[rows] for ids in batch.positions]
        return Strays(batch.tokens[rows], positions, layers, followed, batch.answer)

    @staticmethod
    def together(parts: Sequence["Strays"]) -> tuple["Strays", Tensor]:
        """All of them as one, and the order in which they stand there."""
        first = parts[0]
        if len(parts) == 1:
            return first, torch.arange(len(first.tokens), device=first.tokens.device)
        followed = torch.cat([part.followed for part in parts])
        order = followed.argsort(stable=True)
        positions = []
        for same in zip(*(part.positions for part in parts), strict=True):
            if all(len(ids) == 1 and torch.equal(ids, same[0]) for ids in same):
                positions.append(same[0])
            else:
                counts = (len(part.tokens) for part in parts)
                rows = [ids.expand(count, -1) for ids, count in zip(same, counts, strict=True)]
                positions.append(torch.cat(rows)[order])
        layers = {}
        for layer in first.layers:
            keys, values = zip(*(part.layers[layer] for part in parts), strict=True)
            layers[layer] = torch.cat(keys)[order], torch.cat(values)[order]
        tokens = torch.cat([part.tokens for part in parts])[order]
        return Strays(tokens, positions, layers, followed[order], first.answer), order


def rows_at_once(model: Transformer, columns: int) -> int:
    """How many rows of this many tokens are computed together."""
    options, part = model.options, columns_at_once(model, columns)
    numbers = options.heads * part * columns + _kept(model, columns)
    return max(1, NUMBERS_AT_ONCE // (numbers + (10 * options.width + 3 * options.feedforward) * part))


def rows_kept(model: Transformer, columns: int) -> int:
    """How many rows of this many tokens may wait with their keys and values to be decoded together."""
    return max(1, NUMBERS_AT_ONCE // _kept(model, columns))


def _kept(model: Transformer, columns: int) -> int:
    """Keys and values of a row."""
    options = model.options
    return 2 * options.layers * options.loops * options.width * columns


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


def answers(model: Transformer, batch: Batch) -> Answers:
    """Exactly what greedy decoding says to every row."""
    return answers_together(model, [batch])[0]


@torch.no_grad()
def answers_together(model: Transformer, batches: Sequence[Batch]) -> list[Answers]:
    """The same for each of several batches; rows that leave the truth are decoded together, as far as memory allows."""
    found, waiting = [], Waiting(model)
    for batch in batches:
        columns = batch.tokens.shape[1]
        produced, forced, start = batch.targets.clone(), torch.empty_like(batch.targets), 0
        for part in batch.split(rows_at_once(model, columns)):
            end = start + len(part.tokens)
            forced[start:end] = _verify(model, part.to(model.device), produced[start:end], waiting)
            start = end
        found.append(Answers(produced, forced))
    waiting.decode()
    return found


class Waiting:
    """Rows that leave the truth, until there are enough of one shape to decode them together."""

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self.strays: list[Strays] = []
        self.places: list[tuple[Tensor, Tensor]] = []  # where their answers belong: a tensor and its rows

    def add(self, strays: Strays, produced: Tensor, rows: Tensor) -> None:
        shape = strays.tokens.shape[1], strays.answer
        count = sum(len(one.tokens) for one in self.strays) + len(strays.tokens)
        alike = all((one.tokens.shape[1], one.answer) == shape for one in self.strays)
        if self.strays and (not alike or count > rows_kept(self.model, shape[0])):
            self.decode()
        self.strays.append(strays)
        self.places.append((produced, rows))

    def decode(self) -> None:
        """Decode all that wait, and put what was said in its place."""
        if not self.strays:
            return
        together, order = Strays.together(self.strays)
        said = torch.empty_like(together.tokens[:, together.answer :])
        said[order] = decode_rest(self.model, together)
        sizes = [len(one.tokens) for one in self.strays]
        for (produced, rows), part in zip(self.places, said.cpu().split(sizes), strict=True):
            produced[rows] = part
        self.strays, self.places = [], []


@torch.no_grad()
def is_correct(model: Transformer, batch: Batch) -> Tensor:
    """For each row (B,), whether greedy decoding would give exactly the true answer and its end; nothing is decoded."""
    parts = batch.split(rows_at_once(model, batch.tokens.shape[1]))
    return torch.cat([_is_correct(model, part.to(model.device)) for part in parts])


def _is_correct(model: Transformer, batch: Batch) -> Tensor:
    forced = read(model, batch, Cache(batch.inputs.shape[1])).argmax(-1)
    return ((forced == batch.targets) | (batch.targets == PAD)).all(dim=1).cpu()


def _verify(model: Transformer, batch: Batch, produced: Tensor, waiting: Waiting) -> Tensor:
    """The likeliest tokens after the true ones; rows that leave the truth wait for `produced` to be corrected."""
    cache = Cache(batch.inputs.shape[1])
    logits = read(model, batch, cache)
    forced, targets = logits.argmax(-1), batch.targets
    best = logits.topk(2).values
    scale = logits.abs().amax(dim=-1).clamp(min=1)
    sure = (forced == targets) & (best[..., 0] - best[..., 1] > TIE * scale) | (targets == PAD)
    followed = sure.long().cumprod(dim=1).sum(dim=1)
    wrong = (followed < targets.shape[1]).nonzero().flatten()
    if len(wrong):
        wrong = wrong[followed[wrong].argsort(stable=True)]
        waiting.add(Strays.of(batch, cache, wrong, followed[wrong]), produced, wrong.cpu())
    return forced.cpu()


def decode_rest(model: Transformer, strays: Strays) -> Tensor:
    """Greedy answers of rows that leave the truth.

    At each step the rows that have left the truth by then are the first ones, so the keys are used where they lie.
    """
    tokens, answer = strays.tokens.clone(), strays.answer
    ended = torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device)
    starts = strays.followed.tolist()
    count = 0
    for column in range(answer + starts[0], tokens.shape[1]):
        while count < len(starts) and starts[count] <= column - answer:
            count += 1
        if bool(ended[:count].all()):
            tokens[:count, column] = PAD
            continue
        branch = Branch(strays.layers, count, column - 1)
        ids = [i if len(i) == 1 else i[:count] for i in strays.positions]
        logits = model(tokens[:count, column - 1 : column], ids, cache=branch, prompt=answer)
        token = torch.where(ended[:count], PAD, logits[:, -1].argmax(-1))
        tokens[:count, column] = token
        ended[:count] |= token == END
    return tokens[:, answer:]
