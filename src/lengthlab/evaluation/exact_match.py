"""How well a model does at each digit length: exact match, digits, next tokens, length of the answer."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import torch

from lengthlab.batches import TEST_BLOCK, Batch, Pipeline, joined
from lengthlab.evaluation.answers import Answers, answers_together, is_correct, rows_at_once, rows_kept
from lengthlab.evaluation.examples import Example, ExampleFile
from lengthlab.formats.vocabulary import END, PAD, Vocabulary
from lengthlab.model.kernels.threads import kernels_take_threads
from lengthlab.model.transformer import Transformer
from lengthlab.statistics import wilson


@dataclass(frozen=True)
class Scores:
    """The scores at one digit length, each with its 95% Wilson interval; the unit is the example in all of them."""

    digits: int
    examples: int
    exact_match: float  # whole answers, as greedy decoding gives them
    low: float
    high: float
    digit_accuracy: float | None = None  # of the answer's digits, each in its own place, as greedy decoding gives them
    digit_low: float | None = None
    digit_high: float | None = None
    token_accuracy: float | None = None  # of next tokens, hints and end included, after the true ones before them
    token_low: float | None = None
    token_high: float | None = None
    length_accuracy: float | None = None  # of answers that end where they should
    length_low: float | None = None
    length_high: float | None = None

    def as_dict(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value is not None}


def evaluate(
    model: Transformer,
    pipeline: Pipeline,
    digits: Iterable[int],
    examples: int,
    chain: int = 0,
    progress: Callable[[Scores], None] = lambda row: None,
    kept: ExampleFile | None = None,
) -> list[Scores]:
    """All scores on the test problems of each length; `progress` is called with each row as it is done.

    What `kept` knows already is not computed again, and what it does not know yet is added to it.
    """
    kept = kept or ExampleFile()
    rows = []
    with _evaluating(model):
        for length in digits:
            known = kept.first(length, examples)
            for chunk in _chunks(model, _batches(model, pipeline, length, examples, chain, len(known))):
                said = answers_together(model, [batch for _, batch in chunk])
                for (index, batch), answers in zip(chunk, said, strict=True):
                    new = examples_of(length, index, batch, answers, pipeline.format.vocabulary)
                    kept.add([example for example in new if example.index >= len(known)])
            rows.append(summary(kept.first(length, examples)))
            progress(rows[-1])
    return rows


def exact_match(
    model: Transformer, pipeline: Pipeline, digits: Iterable[int], examples: int, chain: int = 0
) -> list[Scores]:
    """Exact match alone: nothing is decoded."""
    rows = []
    with _evaluating(model):
        for length in digits:
            batches = _batches(model, pipeline, length, examples, chain)
            right = sum(int(is_correct(model, batch).sum()) for _, batch in batches)
            rows.append(Scores(length, examples, right / examples, *wilson(right, examples)))
    return rows


def summary(examples: Sequence[Example]) -> Scores:
    """The scores of examples of one length."""
    count = len(examples)
    scores = (
        sum(example.right for example in examples) / count,
        sum(example.digits_right for example in examples) / max(1, sum(example.places for example in examples)),
        sum(example.tokens_right for example in examples) / sum(example.tokens for example in examples),
        sum(example.length_right for example in examples) / count,
    )
    fields = [value for score in scores for value in (score, *wilson(score * count, count))]
    return Scores(examples[0].digits, count, *fields)


@contextmanager
def _evaluating(model: Transformer) -> Iterator[None]:
    """Within, the model is in evaluation mode."""
    was_training = model.training
    model.eval()
    try:
        with kernels_take_threads(model.in_kernels):
            yield
    finally:
        model.train(was_training)


def _batches(
    model: Transformer, pipeline: Pipeline, digits: int, examples: int, chain: int = 0, done: int = 0
) -> Iterator[tuple[int, Batch]]:
    """The test problems of one length in batches of the size that memory allows, with the number of their first."""
    index = done // TEST_BLOCK * TEST_BLOCK
    blocks = (batch for _, batch in pipeline.test_batches(digits, examples, chain, done))
    for batch in joined(blocks, rows_at_once(model, pipeline.columns(digits))) if done < examples else ():
        yield index, batch
        index += len(batch.tokens)


def _chunks(model: Transformer, batches: Iterable[tuple[int, Batch]]) -> Iterator[list[tuple[int, Batch]]]:
    """Neighbours whose wrong answers can all wait to be decoded together; what is done is kept after each chunk."""
    chunk: list[tuple[int, Batch]] = []
    rows = 0
    for index, batch in batches:
        rows += len(batch.tokens)
        if chunk and rows > rows_kept(model, batch.tokens.shape[1]):
            yield chunk
            chunk, rows = [], len(batch.tokens)
        chunk.append((index, batch))
    if chunk:
        yield chunk


def examples_of(digits: int, first: int, batch: Batch, said: Answers, vocabulary: Vocabulary) -> list[Example]:
    targets, counted = batch.targets, batch.targets != PAD
    right = ((said.produced == targets) | ~counted).all(dim=1)
    place = (targets >= 0) & (targets <= 9)  # a digit's token is the digit itself
    ends = (said.produced == END).int().argmax(dim=1) == (targets == END).int().argmax(dim=1)
    columns = torch.stack(
        [
            right,
            ((said.forced == targets) & counted).sum(dim=1),
            counted.sum(dim=1),
            ((said.produced == targets) & place).sum(dim=1),
            place.sum(dim=1),
            ends & (said.produced == END).any(dim=1),
        ],
        dim=1,
    ).tolist()
    found = []
    for row, (whole, tokens_right, tokens, digits_right, places, length_right) in enumerate(columns):
        texts: tuple[str, ...] = ()
        if not whole:
            parts = (batch.tokens[row, : batch.answer], targets[row], said.produced[row])
            texts = tuple(vocabulary.text(part.tolist()) for part in parts)
        found.append(
            Example(
                digits, first + row, bool(whole), tokens_right, tokens, digits_right, places, bool(length_right), *texts
            )
        )
    return found
