"""Everything that is learned about one run: its mistakes, examples of them, and where its heads look.

The mistakes are kept as rows too, in `runs/<id>/errors.json`, which result tables collect.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np

from lengthlab.analysis.attention import Alignment, alignment
from lengthlab.analysis.errors import Mistakes, Share, share_of, summarise
from lengthlab.analysis.examples import WrongAnswer, examples_of_each_kind
from lengthlab.analysis.names import ALL_LENGTHS, MEASURES, SUMS
from lengthlab.analysis.verdicts import Attempts, attempt, judge, require_sums
from lengthlab.batches import Batch, Pipeline
from lengthlab.evaluation.exact_match import exact_match
from lengthlab.evaluation.load import load_model
from lengthlab.formats.layout import DIGIT, HINT, IntArray
from lengthlab.formats.vocabulary import Vocabulary
from lengthlab.model.transformer import Transformer
from lengthlab.runs.run import Run
from lengthlab.statistics.lengths import evenly, few_lengths

LOOKED_AT = 96  # sums of each length for the alignment: attention varies little, and is read whole
LENGTHS = 12  # at which attention is looked at
READABLE = 160  # tokens that a heat map can show legibly


@dataclass(frozen=True)
class Study:
    """One run."""

    digits: list[int]
    examples: int
    summary: Mistakes
    hints: list[Share]  # by hint: wrong digits
    wrong_answers: list[WrongAnswer]
    alignment: list[Alignment]
    heads: list[tuple[int, int]]  # for each operand: the (layer, head) that is followed, from 0
    shown: Batch  # the problem whose attention is worth drawing

    def as_dict(self) -> dict[str, Any]:
        return {
            "digits": self.digits,
            "examples": self.examples,
            "errors": self.summary.as_dict(),
            "hints": [asdict(measure) for measure in self.hints],
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
        evenly(sorted({*range(1, trained + 1), *tested, *digits}), LENGTHS, [trained, *digits]),
        min(examples, LOOKED_AT),
        lambda length: progress(f"attention at {length} digits"),
    )
    shown_digits = next((length for length in digits if pipeline.columns(length) <= READABLE), trained)
    return Study(
        digits=list(digits),
        examples=examples,
        summary=summarise(*judge(everything)),
        hints=wrong_by_hint(everything, pipeline.format.vocabulary),
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


def write_error_rows(run: Run, examples: int = 200) -> None:
    """Analyse a finished run on its tested lengths beyond training, unless that was done before.

    Each length has the number of wrong digits; the first and the longest have everything, and so have all together.
    """
    if run.errors.exists():
        return
    model, pipeline = load_model(run)
    require_sums(pipeline, run.id)
    config = run.config
    lengths = [digits for digits in config.evaluation.digits if digits > config.training.digits]
    attempts = {digits: list(attempt(model, pipeline, digits, examples)) for digits in lengths}
    rows = []
    for digits, parts in attempts.items():
        mistakes = summarise(*judge(parts)).as_dict()
        whole = digits in (lengths[0], lengths[-1])
        rows += mistake_rows(mistakes, digits, MEASURES if whole else ("counts",))
        rows += place_rows(mistakes, digits) if digits == lengths[-1] else []
    together = [part for parts in attempts.values() for part in parts]
    if together:
        rows += mistake_rows(summarise(*judge(together)).as_dict())
        rows += sums_rows(model, pipeline, few_lengths(config.training.digits, config.evaluation.digits), examples)
    run.save_errors(rows)


def mistake_rows(
    mistakes: dict[str, Any], digits: int = ALL_LENGTHS, measures: Sequence[str] = MEASURES
) -> list[dict[str, Any]]:
    """Mistakes, as plain data, as rows of errors.csv without the run."""
    wrong = sum(share["count"] for share in mistakes["wrong"])
    counts = {"digits": digits, "examples": mistakes["answers"], "wrong": wrong}
    rows = []
    for measure in measures:
        for share in mistakes[measure]:
            rows.append(counts | {"measure": measure, "key": share["name"], "value": share["share"]})
            if share["base"] is not None:
                rows.append(counts | {"measure": f"{measure} base", "key": share["name"], "value": share["base"]})
    return rows


def sums_rows(model: Transformer, pipeline: Pipeline, lengths: Sequence[int], examples: int) -> list[dict[str, Any]]:
    """Exact match on uniform sums, on those with the longest carry, and on a number and itself, likewise."""
    config = pipeline.config
    symmetric = config.model_copy(update={"evaluation": config.evaluation.model_copy(update={"operands": "equal"})})
    tests = [(pipeline, 0), (pipeline, max(lengths)), (Pipeline(symmetric), 0)]  # no carry runs farther than its sum
    rows = []
    for kind, (test, chain) in zip(SUMS, tests, strict=True):
        if chain and pipeline.task.operands != 2:
            continue  # only sums of two have a carry-heavy test set
        for score in exact_match(model, test, lengths, examples, chain):
            wrong = round((1 - score.exact_match) * examples)
            counts = {"digits": score.digits, "examples": examples, "wrong": wrong}
            rows.append(counts | {"measure": "sums", "key": kind, "value": score.exact_match})
    return rows


def place_rows(mistakes: dict[str, Any], digits: int) -> list[dict[str, Any]]:
    """How often the digit of each place is wrong, likewise."""
    wrong = sum(share["count"] for share in mistakes["wrong"])
    counts = {"digits": digits, "examples": mistakes["answers"], "wrong": wrong, "measure": "places"}
    return [counts | {"key": str(place["place"]), "value": place["share"]} for place in mistakes["places"]]


def wrong_by_hint(attempts: Sequence[Attempts], vocabulary: Vocabulary) -> list[Share]:
    """For every hint that marked a digit of an answer, the share of its digits that were wrong; base: of all digits."""
    if not vocabulary.hints or not attempts:
        return []
    hints = np.concatenate([_hint_of_each_digit(part) for part in attempts])
    wrong = judge(attempts)[1].wrong
    overall = float(wrong.mean())
    return [
        share_of(vocabulary.texts[hint], wrong[hints == hint], overall)
        for hint in range(vocabulary.first_hint, len(vocabulary))
        if (hints == hint).any()
    ]


def _hint_of_each_digit(part: Attempts) -> IntArray:
    """The true hint of each digit of the answers, in the order of the table of digits."""
    layout = part.layout
    row, column = np.nonzero((layout.role == DIGIT) & (layout.segment == part.operands))
    assert (layout.role[row, column - 1] == HINT).all(), "with hints, each digit of an answer follows its own"
    return part.expected[row, column - 1]
