"""Wrong digits by hint, on answers small enough to check by hand."""

from collections.abc import Callable, Sequence

import pytest

from lengthlab.analysis.study import wrong_by_hint
from lengthlab.analysis.verdicts import Attempts
from lengthlab.batches import Pipeline
from lengthlab.formats.layout import DIGIT

Answered = Callable[[Pipeline, Sequence[tuple[int, int]], int], Attempts]
Pipelines = Callable[..., Pipeline]


@pytest.mark.parametrize("kind", ["equation", "scratchpad", "interleaved"])
def test_a_wrong_digit_counts_for_the_hint_in_front_of_it(kind: str, pipeline: Pipelines, answered: Answered) -> None:
    pipe = pipeline(f"format.kind={kind}", "format.hints_at_test=first", "format.hints=9")
    part = answered(pipe, [(55, 55), (12, 34)], 2)
    own = (part.layout.role[0] == DIGIT) & (part.layout.segment[0] == 2)
    column = own.nonzero()[0][1]  # the tens, marked by b
    part.produced[0, column] = (part.produced[0, column] + 1) % 10
    measures = wrong_by_hint([part], pipe.format.vocabulary)
    assert [(m.name, m.count, m.total) for m in measures] == [("a", 0, 2), ("b", 1, 2), ("c", 0, 2)]
    assert all(m.base == pytest.approx(1 / 6) for m in measures)


def test_every_hint_that_was_met_is_there_in_order(pipeline: Pipelines, answered: Answered) -> None:
    pipe = pipeline("format.hints=30")
    parts = [answered(pipe, [(1, 1)] * 400, 2)]
    assert [m.name for m in wrong_by_hint(parts, pipe.format.vocabulary)] == pipe.format.vocabulary.texts[-30:]


def test_without_hints_there_is_nothing_to_say(pipeline: Pipelines, answered: Answered) -> None:
    pipe = pipeline("format.hints=0")
    assert wrong_by_hint([answered(pipe, [(1, 1)], 1)], pipe.format.vocabulary) == []
