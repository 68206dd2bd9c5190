"""Shares, the fit and the averages, on numbers small enough to check by hand."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from lengthlab.analysis.errors import Fit, Mistakes, Share, average, summarise
from lengthlab.analysis.verdicts import AnswerTable, Attempts, judge
from lengthlab.batches import Pipeline
from lengthlab.evaluation.exact_match import wilson

Answered = Callable[[Pipeline, Sequence[tuple[int, int]], int], Attempts]
Pipelines = Callable[..., Pipeline]


def test_carries_against_their_base_rates_by_hand(pipeline: Pipelines, answered: Answered) -> None:
    """555 + 555 has a carry into places 1, 2 and 3; 111 + 111 has none. Place 1 of the first is wrong."""
    pipe = pipeline("format.hints=0")
    part = answered(pipe, [(555, 555), (111, 111)], 3)
    part.produced[0, 1] = 9
    summary = summarise(*judge([part]))
    wrong, everywhere, same_places = summary.carry
    assert (wrong.share, wrong.count, wrong.total) == (1.0, 1, 1)
    assert (everywhere.share, everywhere.total) == (3 / 8, 8)
    assert same_places.share == wrong.base == 0.5  # of the two digits at place 1, one has a carry
    assert (wrong.low, wrong.high) == wilson(1, 1)
    assert [m.share for m in summary.fifths] == [0, 1, 0, 0, 0]  # place 1 of 4 is in the second fifth
    assert [m.base for m in summary.fifths] == [0.25, 0.25, 0.25, 0.25, 0]
    assert [(p.digits, p.place, p.share) for p in summary.places] == [(3, 0, 0), (3, 1, 0.5), (3, 2, 0), (3, 3, 0)]


def counts_summary(wrong_digits: list[int], digits: Attempts) -> Mistakes:
    """A summary of answers with these many wrong digits; the digits themselves are of no interest."""
    many = len(wrong_digits)
    no, lucky = np.zeros(many, dtype=bool), np.zeros((many, 9))
    answers = AnswerTable(np.full(many, 3), no, np.full(many, 6), lucky, np.array(wrong_digits), no, no, no)
    return summarise(answers, judge([digits])[1])


def test_the_exponential_fit_by_hand(pipeline: Pipelines, answered: Answered) -> None:
    """1, 1, 1, 3: the mean is 1.5, so a third is kept at each step: 2/3, 2/9, 2/27, ... are expected."""
    part = answered(pipeline(), [(1, 1)], 1)
    summary = counts_summary([1, 1, 1, 3], part)
    assert summary.fit is not None
    assert (summary.fit.mean, summary.fit.ratio) == pytest.approx((1.5, 1 / 3))
    assert [m.share for m in summary.counts] == [0.75, 0, 0.25]
    assert [m.base for m in summary.counts] == pytest.approx([2 / 3, 2 / 9, 2 / 27])
    beyond = 1 - 2 / 3 - 2 / 9 - 2 / 27
    assert summary.fit.misfit == pytest.approx((abs(0.75 - 2 / 3) + 2 / 9 + (0.25 - 2 / 27) + beyond) / 2)


def test_the_fit_recovers_a_geometric_law(pipeline: Pipelines, answered: Answered) -> None:
    numbers = np.random.default_rng(1).geometric(0.7, size=20_000).tolist()
    fit = counts_summary(numbers, answered(pipeline(), [(1, 1)], 1)).fit
    assert fit is not None
    assert fit.ratio == pytest.approx(0.3, abs=0.01) and fit.misfit < 0.02


def test_without_mistakes_there_is_only_the_share_of_wrong_answers(pipeline: Pipelines, answered: Answered) -> None:
    summary = summarise(*judge([answered(pipeline(), [(12, 34), (56, 78)], 2)]))
    assert [(m.name, m.share, m.total) for m in summary.wrong] == [("2", 0.0, 2)]
    assert summary.first == summary.carry == summary.shifts == [] and summary.fit is None


def test_averages_by_hand() -> None:
    def summary(wrong: float, kinds: dict[str, float], ratio: float) -> Mistakes:
        first = [Share(name, share, 0, 1, 0.2, 5, 10) for name, share in kinds.items()]
        counts = [Share("1", 1.0, 0, 1, 1 - ratio)]
        return Mistakes(10, [Share("7", wrong, 0, 1)], first, counts=counts, fit=Fit(1 / (1 - ratio), ratio, 0.0))

    runs = [
        summary(1.0, {"wrong hint": 0.4, "ends too early": 0.6}, 0.5),
        summary(0.5, {"wrong hint": 1.0}, 0.0),
        Mistakes(10, [Share("7", 0.0, 0, 1)]),  # nothing wrong: no mistakes to average
    ]
    mean = average(runs)
    assert mean.runs == 3 and mean.answers == 30
    (wrong,) = mean.wrong
    assert (wrong.share, wrong.low, wrong.high, wrong.deviation) == pytest.approx((0.5, 0.0, 1.0, 0.5))
    assert (wrong.runs, mean.first[0].runs) == (3, 2)
    early, hint = mean.first  # in the order of the kinds, not of the runs
    assert (early.name, early.share, early.low, early.high) == ("ends too early", 0.3, 0.0, 0.6)
    assert early.base == pytest.approx(0.1)
    assert (hint.share, hint.low, hint.high) == pytest.approx((0.7, 0.4, 1.0))
    assert mean.fit is not None and mean.fit.ratio == 0.25
    assert [m.base for m in mean.counts] == [0.75]
