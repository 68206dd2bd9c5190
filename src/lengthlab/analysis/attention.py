"""Where heads look: at one sum, layer by layer, and over many, how sharply a digit looks at its own place.

For every digit that is due, the attention from the token before it (where the digit is predicted) is summed over the
columns of its own place in the operands, digits and hints. For each operand the head is chosen that looks at its own
place most on training lengths, and these heads are followed to longer sums: the score is the share of their
attention that falls on the own place, in whichever operand, averaged over the chosen heads. 1 is as sharp as can be.
`best` takes the best head anew for every digit. `uniform` is what attention spread evenly over all that is in sight
would give.

The true answer is read (teacher forcing), so that no earlier mistake spoils a later digit.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthlab.batches import Batch, Pipeline
from lengthlab.evaluation.answers import decode
from lengthlab.formats.layout import DIGIT, HINT, Layout
from lengthlab.formats.vocabulary import PAD, Vocabulary, up_to_end
from lengthlab.model.transformer import Transformer
from lengthlab.statistics import wilson

OFFSETS = (-3, -2, -1, 0, 1, 2, 3)  # places around a digit's own
FloatArray = NDArray[np.float32]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class AttentionMap:
    """Q tokens of an answer, each with what the model looked at, among K tokens, when it wrote that token."""

    keys: list[str]
    written: list[str]  # (Q,): the tokens that were written
    due: list[str | None]  # (Q,): the tokens that should have been; None beyond the true end
    own: NDArray[np.bool_]  # (Q, K): the digits and hints of the operands at the place of a digit that is due
    weights: FloatArray  # (layers, heads, Q, K)
    bias: FloatArray | None  # (layers, heads, Q, K), one layer if all agree; nan where it may not look; None: no bias


@torch.no_grad()
def attention_weights(model: Transformer, batch: Batch, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Logits, weights (layers, B, H, Q, T) and additions to the logits for the answer's columns of `tokens` (B, T).

    They are recorded in the forward pass itself: what is drawn is what was used.
    """
    weights: list[Tensor] = []
    additions: list[Tensor] = []
    first = batch.answer - 1

    def record(layer: int, used: Tensor, addition: Tensor) -> None:
        queries = tokens.shape[1] - first  # the last layer computes no others
        weights.append(used[:, :, -queries:])
        additions.append(addition[:, :, -queries:].expand(-1, used.shape[1], -1, -1))

    logits = model(tokens, batch.positions, first=first, prompt=batch.answer, record=record)
    return logits, torch.stack(weights), torch.stack(additions)


def own_places(layout: Layout, operands: int, rows: int) -> NDArray[np.bool_]:
    """(B, A, T): for each column of the answer, the operands' digits and hints at its place; only for its digits."""
    shape = (rows, layout.columns)
    role, place, segment = (np.broadcast_to(v, shape) for v in (layout.role, layout.place, layout.segment))
    asked = (role == DIGIT) & (segment == operands)
    given = ((role == DIGIT) | (role == HINT)) & (segment < operands)
    same = place[:, layout.answer :, None] == place[:, None, :]
    return same & asked[:, layout.answer :, None] & given[:, None, :]


def attention_map(model: Transformer, batch: Batch, operands: int, vocabulary: Vocabulary) -> AttentionMap:
    """What the model looked at while it wrote its own answer to the one problem of `batch`."""
    written = up_to_end(decode(model, batch)[0].tolist())
    tokens = batch.followed_by(written)
    _, weights, additions = attention_weights(model, batch, tokens)
    due: list[str | None] = [vocabulary.texts[token] for token in batch.targets[0].tolist()]
    bias = additions[:, 0].masked_fill(additions[:, 0].isinf(), float("nan"))
    if all(torch.equal(layer.nan_to_num(), bias[0].nan_to_num()) for layer in bias):
        bias = bias[:1]
    return AttentionMap(
        keys=[vocabulary.texts[token] for token in tokens[0].tolist()],
        written=[vocabulary.texts[token] for token in written],
        due=due[: len(written)],
        own=own_places(batch.layout, operands, 1)[0, : len(written), : tokens.shape[1]],
        weights=weights[:, 0].numpy(),
        bias=bias.numpy() if bias.nan_to_num().any() else None,
    )


@dataclass(frozen=True)
class Looks:
    """N digits of sums of one length, S heads of all layers, O operands."""

    digits: int
    mass: Array  # (N, S, O, offsets): attention on the places around the own one
    operands: Array  # (N, S): attention on the operands' digits and hints, all places
    uniform: Array  # (N,): attention on the own place if it were even
    right: NDArray[np.bool_]  # (N,): whether the digit was predicted
    correct: NDArray[np.bool_]  # (examples,): whether every token of an answer was predicted

    @property
    def own(self) -> Array:
        return self.mass[..., OFFSETS.index(0)]


@dataclass(frozen=True)
class Alignment:
    """The score at one length, and where else the chosen heads look."""

    digits: int
    examples: int
    exact_match: float
    low: float
    high: float
    score: float
    best: float
    uniform: float
    score_of_right: float | None  # of the digits that it predicts
    score_of_wrong: float | None  # of those that it does not
    wrong_digits: int
    profile: list[float]  # on the places -3..3 around the own one
    farther: float  # on other places of the operands
    elsewhere: float  # on the answer so far and on symbols

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def alignment(
    model: Transformer,
    pipeline: Pipeline,
    lengths: Sequence[int],
    examples: int,
    progress: Callable[[int], None] = lambda digits: None,
) -> tuple[list[Alignment], list[tuple[int, int]]]:
    """The scores by length, and for each operand the (layer, head) that is followed, counted from 0."""
    looks = []
    for digits in lengths:
        progress(digits)
        looks.append(_looks(model, pipeline, digits, examples))
    trained = pipeline.config.training.digits
    reference = [look for look in looks if look.digits <= trained] or looks[:1]
    heads = np.mean([look.own.mean(axis=0) for look in reference], axis=0).argmax(axis=0)  # (O,)
    places = [(int(head) // model.options.heads, int(head) % model.options.heads) for head in heads]
    return [_score(look, heads) for look in looks], places


def _score(look: Looks, heads: NDArray[np.int64]) -> Alignment:
    chosen = look.mass[:, heads].sum(axis=2).mean(axis=1)  # (N, offsets)
    in_operands = look.operands[:, heads].mean()
    profile = chosen.mean(axis=0)
    own = chosen[:, OFFSETS.index(0)]
    correct, examples = int(look.correct.sum()), len(look.correct)
    return Alignment(
        look.digits,
        examples,
        correct / examples,
        *wilson(correct, examples),
        score=float(own.mean()),
        best=float(look.own.sum(axis=2).max(axis=1).mean()),
        uniform=float(look.uniform.mean()),
        score_of_right=float(own[look.right].mean()) if look.right.any() else None,
        score_of_wrong=float(own[~look.right].mean()) if not look.right.all() else None,
        wrong_digits=int((~look.right).sum()),
        profile=profile.tolist(),
        farther=float(in_operands - profile.sum()),
        elsewhere=float(1 - in_operands),
    )


def _looks(model: Transformer, pipeline: Pipeline, digits: int, examples: int) -> Looks:
    parts = [_looks_of(model, batch, len(p.operands), digits) for p, batch in pipeline.test_batches(digits, examples)]
    names = ("mass", "operands", "uniform", "right", "correct")
    return Looks(digits, *(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _looks_of(model: Transformer, batch: Batch, operands: int, digits: int) -> Looks:
    logits, weights, _ = attention_weights(model, batch, batch.inputs)
    layers, rows, heads, queries, keys = weights.shape
    role, place, segment = (
        np.broadcast_to(values, (rows, batch.layout.columns))
        for values in (batch.layout.role, batch.layout.place, batch.layout.segment)
    )
    asked = (role == DIGIT) & (segment == operands)
    row, query = np.nonzero(asked[:, batch.answer :])  # a query stands one column before the digit it predicts
    wanted = place[row, batch.answer + query]
    looked = weights.numpy().reshape(layers, rows, heads, queries, keys)[:, row, :, query]  # (N, layers, heads, keys)
    looked = looked.reshape(len(row), layers * heads, keys).astype(np.float64)
    given = ((role == DIGIT) | (role == HINT))[:, :keys]
    mass = np.empty((len(row), layers * heads, operands, len(OFFSETS)))
    own_columns = np.zeros(len(row))
    for operand in range(operands):
        of_operand = (given & (segment[:, :keys] == operand))[row]
        for index, offset in enumerate(OFFSETS):
            there = of_operand & (place[row][:, :keys] == (wanted + offset)[:, None])  # (N, keys)
            mass[:, :, operand, index] = np.einsum("nsk,nk->ns", looked, there)
            if offset == 0:
                own_columns += there.sum(axis=1)
    in_operands = np.einsum("nsk,nk->ns", looked, (given & (segment[:, :keys] < operands))[row])
    uniform = own_columns / (batch.answer + query)  # so many keys are in sight
    predicted = (logits.argmax(-1) == batch.targets).numpy()
    correct = np.all(predicted | (batch.targets == PAD).numpy(), axis=1)
    return Looks(digits, mass, in_operands, uniform, predicted[row, query], correct)
