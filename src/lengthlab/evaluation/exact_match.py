"""Exact match from one teacher-forced pass.

Greedy decoding reproduces the true answer exactly if, at every step, the most likely token after the
true prefix is the true one. So one pass over the true answer decides, and nothing is decoded. (Two
logits that are exactly equal are resolved alike in both: the lower token wins.)
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from lengthlab.batches import Batch, Pipeline
from lengthlab.formats.vocabulary import PAD
from lengthlab.model.transformer import Transformer
from lengthlab.statistics import wilson

LOGITS_AT_ONCE = 2**26  # attention logits of one layer in memory at a time; long sums go in smaller batches


@dataclass(frozen=True)
class Row:
    """Exact match at one digit length, with its 95% Wilson interval."""

    digits: int
    examples: int
    exact_match: float
    low: float
    high: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@torch.no_grad()
def is_correct(model: Transformer, batch: Batch) -> Tensor:
    """For each row (B,), whether greedy decoding would give exactly the true answer and its end."""
    rows = max(1, LOGITS_AT_ONCE // (model.options.heads * batch.tokens.shape[1] ** 2))
    return torch.cat([_is_correct(model, part) for part in batch.split(rows)])


def _is_correct(model: Transformer, batch: Batch) -> Tensor:
    logits = model(batch.inputs, batch.positions, first=batch.answer - 1, prompt=batch.answer)
    return ((logits.argmax(-1) == batch.targets) | (batch.targets == PAD)).all(dim=1)


def evaluate(
    model: Transformer,
    pipeline: Pipeline,
    digits: Iterable[int],
    examples: int,
    chain: int = 0,
    progress: Callable[[Row], None] = lambda row: None,
) -> list[Row]:
    """Exact match on the test problems of each length; `progress` hears of each row as it is done."""
    was_training = model.training
    model.eval()
    rows = []
    for length in digits:
        correct = sum(
            int(is_correct(model, batch).sum()) for _, batch in pipeline.test_batches(length, examples, chain)
        )
        rows.append(Row(length, examples, correct / examples, *wilson(correct, examples)))
        progress(rows[-1])
    model.train(was_training)
    return rows
