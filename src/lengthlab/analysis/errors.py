"""The shares of each mistake, each beside what it should be compared with.

All tables are lists of `Measure`: a share with its interval and a base. For one run the interval is Wilson's 95%; for
several, the lowest and the highest run.
"""

from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from lengthlab.analysis.verdicts import HALF_SHIFTS, KINDS, SHIFTS, AnswerTable, DigitTable
from lengthlab.statistics import wilson

FIFTHS = ("lowest fifth", "second fifth", "middle fifth", "fourth fifth", "highest fifth")


@dataclass(frozen=True)
class Measure:
    """One share. `base` is what to compare it with, None if there is nothing."""

    name: str
    share: float
    low: float
    high: float
    base: float | None = None
    count: int = 0  # for one run: how many, of how many
    total: int = 0
    deviation: float | None = None  # for several runs: their standard deviation
    runs: int = 1


@dataclass(frozen=True)
class Place:
    """How often the digit of a place was wrong in sums of one length."""

    digits: int
    place: int
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Fit:
    """A geometric distribution of the number of wrong digits: P(k) = (1 - ratio) ratio**(k - 1), k = 1, 2, ...

    This is the exponential law on whole numbers. Its maximum likelihood estimate is ratio = 1 - 1/mean. `misfit` is
    the total variation distance: the share of answers that would have to change places for a perfect fit.
    """

    mean: float
    ratio: float
    misfit: float

    def share(self, wrong_digits: int) -> float:
        """The fitted share of answers with so many wrong digits."""
        return (1 - self.ratio) * self.ratio ** (wrong_digits - 1)


@dataclass(frozen=True)
class Summary:
    """The mistakes of one run, or the average over several."""

    answers: int
    wrong: list[Measure]  # by length: wrong answers
    first: list[Measure] = field(default_factory=list)  # by kind: the first mistake; base: by luck
    marks: list[Measure] = field(default_factory=list)  # ends and hints, anywhere in the answer
    carry: list[Measure] = field(default_factory=list)  # incoming carries at wrong digits and at digits in general
    fifths: list[Measure] = field(default_factory=list)  # wrong digits by part of the answer; base: all digits
    places: list[Place] = field(default_factory=list)  # wrong digits by length and place
    counts: list[Measure] = field(default_factory=list)  # number of wrong digits; base: the fit
    fit: Fit | None = None
    shifts: list[Measure] = field(default_factory=list)  # digits that another place would give; base: by luck
    halves: list[Measure] = field(default_factory=list)  # the same with one operand of a neighbouring place
    runs: int = 1

    @property
    def wrong_answers(self) -> int:
        return sum(measure.count for measure in self.wrong)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def summarise(answers: AnswerTable, digits: DigitTable) -> Summary:
    """All measures of one run. Where nothing is wrong, only the shares of wrong answers are there."""
    by_length = [
        share_of(str(length), ~answers.correct[answers.digits == length]) for length in np.unique(answers.digits)
    ]
    failed = ~answers.correct
    if not failed.any():
        return Summary(len(failed), by_length)
    wrong = digits.wrong
    marks = [
        share_of("ends too early", answers.early[failed]),
        share_of("does not end", answers.late[failed]),
        share_of("wrong hint", answers.wrong_hint[failed]),
        share_of("wrong digit", answers.wrong_digits[failed] > 0),
    ]
    counts, fit = _counts(answers.wrong_digits[failed & (answers.wrong_digits > 0)])
    return Summary(
        answers=len(failed),
        wrong=by_length,
        first=_first(answers),
        marks=marks,
        carry=_carry(digits) if wrong.any() else [],
        fifths=_fifths(digits) if wrong.any() else [],
        places=_places(digits),
        counts=counts,
        fit=fit,
        shifts=_matching(digits, digits.matches, SHIFTS),
        halves=_matching(digits, digits.half_matches, HALF_SHIFTS),
    )


def share_of(name: str, flags: np.ndarray, base: float | None = None) -> Measure:
    """The share of true flags with its interval."""
    count, total = int(flags.sum()), len(flags)
    return Measure(name, count / total, *wilson(count, total), base, count, total)


def _first(answers: AnswerTable) -> list[Measure]:
    failed = ~answers.correct
    luck = answers.luck[failed].mean(axis=0)
    measures = [
        share_of(name, answers.kind[failed] == kind, float(luck[kind]) if luck[kind] else None)
        for kind, name in enumerate(KINDS)
    ]
    return [measure for measure in measures if measure.count or measure.base]


def _carry(digits: DigitTable) -> list[Measure]:
    """Wrong digits against all digits, and against all digits at the places where the wrong ones stand."""
    wrong = digits.wrong
    keys = digits.digits * (digits.place.max() + 1) + digits.place
    _, where = np.unique(keys, return_inverse=True)
    rate = np.bincount(where, weights=digits.carry) / np.bincount(where)
    same = float(rate[where[wrong]].mean())
    return [
        share_of("wrong digits", digits.carry[wrong], base=same),
        share_of("all digits", digits.carry),
        Measure("all digits at the same places", same, same, same),
    ]


def _fifths(digits: DigitTable) -> list[Measure]:
    """Wrong digits by fifth of the answer, from the units up."""
    fifth = len(FIFTHS) * digits.place // digits.places
    everywhere = np.bincount(fifth, minlength=len(FIFTHS)) / len(fifth)
    return [share_of(name, fifth[digits.wrong] == index, float(everywhere[index])) for index, name in enumerate(FIFTHS)]


def _places(digits: DigitTable) -> list[Place]:
    found = []
    for length in np.unique(digits.digits):
        for place in np.unique(digits.place[digits.digits == length]):
            measure = share_of("", digits.wrong[(digits.digits == length) & (digits.place == place)])
            found.append(Place(int(length), int(place), measure.share, measure.low, measure.high))
    return found


def _counts(wrong_digits: np.ndarray) -> tuple[list[Measure], Fit | None]:
    if not len(wrong_digits):
        return [], None
    mean = float(wrong_digits.mean())
    fit = Fit(mean, ratio=1 - 1 / mean, misfit=0.0)
    numbers = range(1, int(wrong_digits.max()) + 1)
    measures = [share_of(str(k), wrong_digits == k, fit.share(k)) for k in numbers]
    beyond = 1 - sum(map(fit.share, numbers))  # what the fit expects further out than anything seen
    misfit = (sum(abs(measure.share - (measure.base or 0.0)) for measure in measures) + beyond) / 2
    return measures, replace(fit, misfit=misfit)


def _matching(digits: DigitTable, matches: np.ndarray, shifts: tuple[int, ...]) -> list[Measure]:
    """Of the wrong digits, those among `matches` (N, shifts, 10); base: the same for a random wrong digit."""
    chosen = digits.wrong & (digits.produced >= 0)
    if not chosen.any():
        return []
    produced, expected, matches = digits.produced[chosen], digits.expected[chosen], matches[chosen]
    entries = np.arange(len(produced))
    measures = []
    for index, shift in enumerate(shifts):
        hit = matches[entries, index, produced]
        luck = (matches[:, index].sum(axis=1) - matches[entries, index, expected]) / 9
        measures.append(share_of(f"{shift:+d}" if shift else "0", hit, float(luck.mean())))
    return measures
