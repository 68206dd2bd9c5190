"""What a model wrote for test problems, beside what it should have written."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from lengthlab.batches import Batch, Pipeline
from lengthlab.errors import UserError
from lengthlab.evaluation.answers import answers
from lengthlab.formats.layout import IntArray, Layout
from lengthlab.formats.vocabulary import PAD
from lengthlab.model.transformer import Transformer
from lengthlab.tasks.task import Problems


@dataclass(frozen=True)
class Attempts:
    """B sums whose numbers have the same shapes, with the A columns of their answers, end token included."""

    digits: int  # of the longest operand
    problems: Problems
    layout: Layout  # of the answer's columns: (B, A)
    expected: IntArray  # (B, A), PAD after the end
    produced: IntArray  # (B, A), PAD after an end; cut after A tokens

    @property
    def differs(self) -> NDArray[np.bool_]:
        """(B, A): where another token was written than should have been; nothing counts after the true end."""
        return (self.produced != self.expected) & (self.expected != PAD)

    @property
    def operands(self) -> int:
        return len(self.problems.operands)


def require_sums(pipeline: Pipeline, run: str) -> None:
    """Refuse what the analysis has no words for: only sums have carries that it knows and places that line up."""
    if pipeline.task.symbol != "+":
        kind = pipeline.config.task.kind
        raise UserError(f"run {run} was trained on {kind}; analyse explains the mistakes of addition only")


def attempt(model: Transformer, pipeline: Pipeline, digits: int, examples: int) -> list[Attempts]:
    """The model's own greedy answers to the first `examples` test problems of a length.

    Each token is written after the model's own tokens, wrong ones included, as in use.
    """
    return [
        attempts_of(digits, problems, batch, answers(model, batch).produced)
        for problems, batch in pipeline.test_batches(digits, examples)
    ]


def attempts_of(digits: int, problems: Problems, batch: Batch, produced: torch.Tensor) -> Attempts:
    """Join what was asked with what was written, (B, A)."""
    expected = batch.targets.numpy()
    first, layout = batch.answer, batch.layout
    role, place, segment = (
        np.broadcast_to(values[:, first:], expected.shape) for values in (layout.role, layout.place, layout.segment)
    )
    return Attempts(digits, problems, Layout(role, place, segment, 0), expected, produced.numpy())
