"""Everything that is learned about one run: its mistakes, examples of them, and where its heads look."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np

from lengthlab.analysis.alignment import Alignment, alignment
from lengthlab.analysis.attempts import Attempts, attempt
from lengthlab.analysis.errors import Summary, summarise
from lengthlab.analysis.examples import Example, examples_of_each_kind
from lengthlab.analysis.lengths import spread_lengths
from lengthlab.analysis.verdicts import judge
from lengthlab.batches import Batch, Pipeline
from lengthlab.model.transformer import Transformer

LOOKED_AT = 96  # sums of each length for the alignment: attention varies little, and is read whole
READABLE = 160  # tokens that a heat map can show legibly


@dataclass(frozen=True)
class Study:
    """One run."""

    digits: list[int]
    examples: int
    summary: Summary
    wrong_answers: list[Example]
    alignment: list[Alignment]
    heads: list[tuple[int, int]]  # for each operand: the (layer, head) that is followed, from 0
    shown: Batch  # the problem whose attention is worth drawing

    def as_dict(self) -> dict[str, Any]:
        return {
            "digits": self.digits,
            "examples": self.examples,
            "errors": self.summary.as_dict(),
            "wrong_answers": [asdict(example) for example in self.wrong_answers],
            "alignment": [row.as_dict() for row in self.alignment],
            "heads": [list(head) for head in self.heads],
        }


def study(
    model: Transformer,
    pipeline: Pipeline,
    digits: Sequence[int],
    tested: Sequence[int],
    examples: int,
    progress: Callable[[str], None],
) -> Study:
    """Look at the mistakes at the lengths `digits`, and at the attention on these and on a choice of those `tested`."""
    attempts: dict[int, list[Attempts]] = {}
    for length in digits:
        progress(f"writing {examples} answers of {length} digits")
        attempts[length] = attempt(model, pipeline, length, examples)
    everything = [part for parts in attempts.values() for part in parts]
    trained = pipeline.config.training.digits
    rows, heads = alignment(
        model,
        pipeline,
        spread_lengths(tested, trained, digits),
        min(examples, LOOKED_AT),
        lambda length: progress(f"attention at {length} digits"),
    )
    shown_digits = next((length for length in digits if pipeline.columns(length) <= READABLE), trained)
    return Study(
        digits=list(digits),
        examples=examples,
        summary=summarise(*judge(everything)),
        wrong_answers=examples_of_each_kind(everything, pipeline.format.vocabulary),
        alignment=rows,
        heads=heads,
        shown=_first_wrong(pipeline, shown_digits, attempts.get(shown_digits, []), examples),
    )


def _first_wrong(pipeline: Pipeline, digits: int, attempts: Sequence[Attempts], examples: int) -> Batch:
    """The first problem of a length that was answered wrong, or simply the first, as it was asked."""
    block, row = 0, 0
    for index, part in enumerate(attempts):
        wrong = np.flatnonzero(part.differs.any(axis=1))
        if len(wrong):
            block, row = index, int(wrong[0])
            break
    _, batch = next(islice(pipeline.test_batches(digits, examples), block, None))
    return batch.rows(row, row + 1)
