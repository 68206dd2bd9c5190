"""Wrong answers whose kind is known, because a test made them wrong."""

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from lengthlab.analysis.errors import summarise
from lengthlab.analysis.names import SHIFTS
from lengthlab.analysis.verdicts import (
    CARRY,
    EARLY,
    FARTHER,
    KINDS,
    LATE,
    NEIGHBOUR,
    OTHER,
    OUT_OF_FORM,
    WRITTEN_CARRY,
    WRONG_HINT,
    Attempts,
    judge,
)
from lengthlab.batches import Pipeline
from lengthlab.formats.vocabulary import END, PAD

Answered = Callable[[Pipeline, Sequence[tuple[int, int]], int], Attempts]
Pipelines = Callable[..., Pipeline]


def test_a_small_sum_by_hand(pipeline: Pipelines, answered: Answered) -> None:
    """472 + 391 = 863: place 1 hands a carry to place 2. Written 3680$, units first."""
    pipe = pipeline("format.hints=0")
    part = answered(pipe, [(472, 391)], 3)
    assert pipe.format.vocabulary.text(part.expected[0]) == "3680$"
    answers, digits = judge([part])
    assert answers.correct.all() and (answers.kind == -1).all()
    assert digits.carry.tolist() == [False, False, True, False]
    give = {shift: [set(np.flatnonzero(row)) for row in digits.matches[:, i]] for i, shift in enumerate(SHIFTS)}
    assert give[0] == [{3, 4}, {6, 7}, {7, 8}, {0, 1}]
    assert give[1] == [{6, 7}, {7, 8}, {0, 1}, set()]  # above place 3 there is nothing
    assert give[-1] == [set(), {3, 4}, {6, 7}, {7, 8}]
    assert give[3] == [{0, 1}, set(), set(), set()]
    one_higher = [set(np.flatnonzero(row)) for row in digits.half_matches[:, 1]]
    assert one_higher[0] == {7 + 1, 9, 2 + 9 - 10, 2}  # 7 + 1 or 2 + 9, each with or without a carry


@pytest.mark.parametrize(
    ("written", "kind", "wrong_digits"),
    [
        ("3780$", CARRY, 1),  # 7 + 9 + 1
        ("3880$", NEIGHBOUR, 1),  # 4 + 3 + 1, one place higher
        ("3080$", FARTHER, 1),  # 0 + 0, two places higher
        ("3980$", OTHER, 1),
        ("5980$", OTHER, 2),
        ("3$...", EARLY, 0),
        ("3680=", LATE, 0),
        ("36800", LATE, 0),
        ("36+0$", OUT_OF_FORM, 1),
        ("36.0$", OUT_OF_FORM, 1),  # padding where a digit is due
    ],
)
def test_each_kind_by_hand(written: str, kind: int, wrong_digits: int, pipeline: Pipelines, answered: Answered) -> None:
    pipe = pipeline("format.hints=0")
    part = answered(pipe, [(472, 391)], 3)
    part.produced[0] = pipe.format.vocabulary.tokens(written)
    answers, _ = judge([part])
    assert KINDS[answers.kind[0]] == KINDS[kind]
    assert answers.wrong_digits[0] == wrong_digits
    assert (answers.early[0], answers.late[0]) == (kind == EARLY, kind == LATE)


def test_later_mistakes_are_seen_beside_the_first(pipeline: Pipelines, answered: Answered) -> None:
    """A wrong digit, then an early end: the digit is the first mistake, and the end is counted too."""
    pipe = pipeline("format.hints=0")
    part = answered(pipe, [(472, 391)], 3)
    part.produced[0] = pipe.format.vocabulary.tokens("39$..")
    answers, digits = judge([part])
    assert answers.kind[0] == OTHER and answers.early[0] and not answers.late[0]
    assert answers.wrong_digits[0] == 1  # digits that were never written are not wrong ones
    assert digits.wrong.tolist() == [False, True, False, False]


@pytest.mark.parametrize("overrides", [(), ("format.order=standard",), ("format.kind=interleaved",)], ids=str)
def test_injected_mistakes_are_counted_as_what_they_are(
    overrides: tuple[str, ...], pipeline: Pipelines, answered: Answered
) -> None:
    """One mistake of a known kind in each of many right answers; the expected digits are worked out with integers."""
    rng = random.Random(3)
    pipe = pipeline(*overrides)
    vocabulary = pipe.format.vocabulary
    counts = dict.fromkeys((EARLY, LATE, WRONG_HINT, CARRY, NEIGHBOUR, FARTHER, OTHER), 0)
    for _ in range(300):
        a, b = rng.randrange(10**5, 10**6), rng.randrange(10**5, 10**6)
        part = answered(pipe, [(a, b)], 6)
        row = part.produced[0]
        texts = [vocabulary.texts[token] for token in row]
        columns = [column for column, text in enumerate(texts) if text.isdigit()]
        if overrides == ("format.order=standard",):
            columns.reverse()  # units last

        def sums(place: int, a: int = a, b: int = b) -> set[int]:
            total = a // 10**place % 10 + b // 10**place % 10
            return {total % 10, (total + 1) % 10} if 0 <= place <= 6 else set()

        place = rng.randrange(7)
        due = (a + b) // 10**place % 10
        own = sums(place)
        near = sums(place - 1) if place else set()
        near |= sums(place + 1)
        far = set().union(*(sums(place + shift) for shift in (-3, -2, 2, 3) if place + shift >= 0))
        choices = {
            CARRY: own - {due},
            NEIGHBOUR: near - own,
            FARTHER: far - near - own,
            OTHER: set(range(10)) - far - near - own,
        }
        kind = rng.choice(list(counts))
        if kind == EARLY:
            cut = rng.randrange(len(row) - 1)
            row[cut], row[cut + 1 :] = END, PAD
        elif kind == LATE:
            row[-1] = rng.randrange(10)
        elif kind == WRONG_HINT:
            column = rng.choice([c for c, text in enumerate(texts) if text[0].isalpha()])
            row[column] = vocabulary.first_hint + (row[column] - vocabulary.first_hint + 1) % vocabulary.hints
        elif choices[kind]:
            row[columns[place]] = rng.choice(sorted(choices[kind]))
        else:
            continue
        counts[kind] += 1
        answers, digits = judge([part])
        assert KINDS[answers.kind[0]] == KINDS[kind]
        assert answers.wrong_digits[0] == digits.wrong.sum() == (kind in choices)
        assert answers.wrong_hint[0] == (kind == WRONG_HINT)
        if kind in choices:
            assert digits.place[digits.wrong].tolist() == [place]
            assert digits.carry[digits.wrong].tolist() == [a % 10**place + b % 10**place >= 10**place]
    assert min(counts.values()) > 10


def test_a_wrong_carry_in_the_scratchpad_is_a_kind_of_its_own(pipeline: Pipelines, answered: Answered) -> None:
    pipe = pipeline("format.kind=scratchpad", "format.hints=0")
    part = answered(pipe, [(42, 39)], 2)
    assert pipe.format.vocabulary.text(part.expected[0]) == "1/18/00/0$"
    part.produced[0] = pipe.format.vocabulary.tokens("1/08/00/0$")
    answers, digits = judge([part])
    assert answers.kind[0] == WRITTEN_CARRY and answers.wrong_digits[0] == 0 and not digits.wrong.any()
    part.produced[0] = pipe.format.vocabulary.tokens("1/17/00/0$")
    answers, digits = judge([part])
    assert answers.kind[0] == CARRY and digits.wrong.tolist() == [False, True, False]


def test_answers_without_leading_zeros_end_where_they_should(pipeline: Pipelines, answered: Answered) -> None:
    """42 + 39 = 81 and 99 + 39 = 138 in one batch: 18$ and padding, 831$."""
    pipe = pipeline("format.padding=none", "format.hints=0")
    part = answered(pipe, [(42, 39), (99, 39)], 2)
    assert [pipe.format.vocabulary.text(row) for row in part.expected] == ["18$.", "831$"]
    part.produced[:] = [pipe.format.vocabulary.tokens(text) for text in ("180$", "83$.")]
    answers, digits = judge([part])
    assert answers.kind.tolist() == [LATE, EARLY]
    assert digits.places.tolist() == [2, 2, 3, 3, 3]
    assert not digits.wrong.any()


def test_luck_is_what_random_wrong_digits_show(pipeline: Pipelines, answered: Answered) -> None:
    """Uniform wrong digits match each description as often as `base` says they would by luck."""
    rng = np.random.default_rng(0)
    pipe = pipeline("format.hints=0")
    sums = rng.integers(10**7, 10**8, size=(4000, 2)).tolist()
    part = answered(pipe, sums, 8)
    everyone, place = np.arange(4000), rng.integers(0, 9, 4000)
    part.produced[everyone, place] = (part.produced[everyone, place] + rng.integers(1, 10, 4000)) % 10
    summary = summarise(*judge([part]))
    assert summary.wrong_answers == 4000
    for measure in [*summary.first, *summary.shifts, *summary.halves]:
        assert measure.base is not None
        assert measure.share == pytest.approx(measure.base, abs=0.03)
    assert {measure.name: measure.base for measure in summary.shifts}["0"] == pytest.approx(1 / 9)
    wrong, everywhere, _ = summary.carry
    assert wrong.share == pytest.approx(everywhere.share, abs=0.03)
