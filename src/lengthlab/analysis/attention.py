"""The attention of every layer and head while a model writes the answer to one sum."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthlab.batches import Batch
from lengthlab.evaluation.decode import decode
from lengthlab.formats.layout import DIGIT, HINT, Layout
from lengthlab.formats.vocabulary import END, Vocabulary
from lengthlab.model.transformer import Transformer

FloatArray = NDArray[np.float32]


@dataclass(frozen=True)
class Picture:
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


def picture(model: Transformer, batch: Batch, operands: int, vocabulary: Vocabulary) -> Picture:
    """What the model looked at while it wrote its own answer to the one problem of `batch`."""
    produced = decode(model, batch)[0].tolist()
    written = produced[: produced.index(END) + 1] if END in produced else produced
    tokens = torch.cat([batch.tokens[:, : batch.answer], torch.tensor([written[:-1]], dtype=torch.long)], dim=1)
    _, weights, additions = attention_weights(model, batch, tokens)
    due: list[str | None] = [vocabulary.texts[token] for token in batch.targets[0].tolist()]
    bias = additions[:, 0].masked_fill(additions[:, 0].isinf(), float("nan"))
    if all(torch.equal(layer.nan_to_num(), bias[0].nan_to_num()) for layer in bias):
        bias = bias[:1]
    return Picture(
        keys=[vocabulary.texts[token] for token in tokens[0].tolist()],
        written=[vocabulary.texts[token] for token in written],
        due=due[: len(written)],
        own=own_places(batch.layout, operands, 1)[0, : len(written), : tokens.shape[1]],
        weights=weights[:, 0].numpy(),
        bias=bias.numpy() if bias.nan_to_num().any() else None,
    )
