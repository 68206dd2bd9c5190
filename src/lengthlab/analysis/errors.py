"""The shares of each mistake, each beside what it should be compared with, for one run or averaged over several.

All tables are lists of `Share`: a share with its interval and a base. For one run the interval is Wilson's 95%; for
several, the lowest and the highest run.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import mean, stdev
from typing import Any

import numpy as np

from lengthlab.analysis.names import FIFTHS, MARKS, SAME_PLACES, SHIFTS, WRONG_DIGITS, shift_name
from lengthlab.analysis.verdicts import HALF_SHIFTS, KINDS, AnswerTable, DigitTable
from lengthlab.statistics import wilson


@dataclass(frozen=True)
class Share:
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
class Mistakes:
    """The mistakes of one run, or the average over several."""

    answers: int
    wrong: list[Share]  # by length: wrong answers
    first: list[Share] = field(default_factory=list)  # by kind: the first mistake; base: by chance
    marks: list[Share] = field(default_factory=list)  # ends and hints, anywhere in the answer
    carry: list[Share] = field(default_factory=list)  # incoming carries at wrong digits and at digits in general
    fifths: list[Share] = field(default_factory=list)  # wrong digits by part of the answer; base: all digits
    places: list[Place] = field(default_factory=list)  # wrong digits by length and place
    counts: list[Share] = field(default_factory=list)  # number of wrong digits; base: the fit
    fit: Fit | None = None
    shifts: list[Share] = field(default_factory=list)  # digits that another place would give; base: by chance
    halves: list[Share] = field(default_factory=list)  # the same with one operand of a neighbouring place
    runs: int = 1

    @property
    def wrong_answers(self) -> int:
        return sum(measure.count for measure in self.wrong)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def summarise(answers: AnswerTable, digits: DigitTable) -> Mistakes:
    """All measures of one run. Where nothing is wrong, only the shares of wrong answers are there."""
    by_length = [
        share_of(str(length), ~answers.correct[answers.digits == length]) for length in np.unique(answers.digits)
    ]
    failed = ~answers.correct
    if not failed.any():
        return Mistakes(len(failed), by_length)
    wrong = digits.wrong
    marked = (answers.early, answers.late, answers.wrong_hint, answers.wrong_digits > 0)
    marks = [share_of(name, flags[failed]) for name, flags in zip(MARKS, marked, strict=True)]
    counts, fit = _counts(answers.wrong_digits[failed & (answers.wrong_digits > 0)])
    return Mistakes(
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


def share_of(name: str, flags: np.ndarray, base: float | None = None) -> Share:
    """The share of true flags with its interval."""
    count, total = int(flags.sum()), len(flags)
    return Share(name, count / total, *wilson(count, total), base, count, total)


def _first(answers: AnswerTable) -> list[Share]:
    failed = ~answers.correct
    luck = answers.luck[failed].mean(axis=0)
    measures = [
        share_of(name, answers.kind[failed] == kind, float(luck[kind]) if luck[kind] else None)
        for kind, name in enumerate(KINDS)
    ]
    return [measure for measure in measures if measure.count or measure.base]


def _carry(digits: DigitTable) -> list[Share]:
    """Wrong digits against all digits, and against all digits at the places of the wrong ones."""
    wrong = digits.wrong
    keys = digits.digits * (digits.place.max() + 1) + digits.place
    _, where = np.unique(keys, return_inverse=True)
    rate = np.bincount(where, weights=digits.carry) / np.bincount(where)
    same = float(rate[where[wrong]].mean())
    return [
        share_of(WRONG_DIGITS, digits.carry[wrong], base=same),
        share_of("all digits", digits.carry),
        Share(SAME_PLACES, same, same, same),
    ]


def _fifths(digits: DigitTable) -> list[Share]:
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


def _counts(wrong_digits: np.ndarray) -> tuple[list[Share], Fit | None]:
    if not len(wrong_digits):
        return [], None
    on_average = float(wrong_digits.mean())
    fit = Fit(on_average, ratio=1 - 1 / on_average, misfit=0.0)
    numbers = range(1, int(wrong_digits.max()) + 1)
    measures = [share_of(str(k), wrong_digits == k, fit.share(k)) for k in numbers]
    beyond = 1 - sum(map(fit.share, numbers))  # what the fit expects further out than anything seen
    misfit = (sum(abs(measure.share - (measure.base or 0.0)) for measure in measures) + beyond) / 2
    return measures, replace(fit, misfit=misfit)


def _matching(digits: DigitTable, matches: np.ndarray, shifts: tuple[int, ...]) -> list[Share]:
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
        measures.append(share_of(shift_name(shift), hit, float(luck.mean())))
    return measures


def average(summaries: Sequence[Mistakes]) -> Mistakes:
    """Each run counts alike; `low` and `high` become the lowest and the highest run.

    A run without wrong answers says nothing about mistakes and counts for the share of wrong answers only. A kind of
    mistake or a number of wrong digits that a run does not show is 0 for it.
    """
    failing = [summary for summary in summaries if summary.first]
    fits = [summary.fit for summary in failing if summary.fit]
    counts = _average([summary.counts for summary in failing if summary.fit], absent_is_zero=True)
    return Mistakes(
        answers=sum(summary.answers for summary in summaries),
        wrong=_average([summary.wrong for summary in summaries]),
        first=_average([summary.first for summary in failing], absent_is_zero=True),
        marks=_average([summary.marks for summary in failing]),
        carry=_average([summary.carry for summary in failing]),
        fifths=_average([summary.fifths for summary in failing]),
        places=_average_places([place for summary in failing for place in summary.places]),
        counts=[replace(count, base=mean(fit.share(int(count.name)) for fit in fits)) for count in counts],
        fit=_average_fit(fits),
        shifts=_average([summary.shifts for summary in failing]),
        halves=_average([summary.halves for summary in failing]),
        runs=len(summaries),
    )


def _average(tables: Sequence[Sequence[Share]], absent_is_zero: bool = False) -> list[Share]:
    by_name: dict[str, list[Share]] = {}
    for measure in (measure for table in tables for measure in table):
        by_name.setdefault(measure.name, []).append(measure)
    averaged = []
    for name in _in_order(list(by_name)):
        found = by_name[name]
        missing = len(tables) - len(found) if absent_is_zero else 0
        shares = [measure.share for measure in found] + [0.0] * missing
        bases = [measure.base for measure in found if measure.base is not None]
        averaged.append(
            Share(
                name,
                mean(shares),
                min(shares),
                max(shares),
                mean(bases + [0.0] * missing) if bases else None,
                sum(measure.count for measure in found),
                sum(measure.total for measure in found),
                stdev(shares) if len(shares) > 1 else None,
                len(shares),
            )
        )
    return averaged


def _in_order(names: list[str]) -> list[str]:
    """Kinds in their own order, numbers by size, and anything else as it comes."""
    if set(names) <= set(KINDS):
        return sorted(names, key=KINDS.index)
    return sorted(names, key=int) if all(name.isdigit() for name in names) else names


def _average_places(places: Sequence[Place]) -> list[Place]:
    shares: dict[tuple[int, int], list[float]] = {}
    for place in places:
        shares.setdefault((place.digits, place.place), []).append(place.share)
    return [Place(*key, mean(values), min(values), max(values)) for key, values in sorted(shares.items())]


def _average_fit(fits: Sequence[Fit]) -> Fit | None:
    if not fits:
        return None
    return Fit(mean(f.mean for f in fits), mean(f.ratio for f in fits), mean(f.misfit for f in fits))
