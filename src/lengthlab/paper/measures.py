"""One number for a run, from the result tables alone; None where the tables do not say."""

from collections.abc import Callable, Iterable
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from lengthlab.analysis.names import ALL_LENGTHS, SAME_PLACES, WRONG_DIGITS
from lengthlab.paper.tables import Results
from lengthlab.seeding import generator
from lengthlab.statistics import generalization

LEARNED = 0.95  # exact match from which a length counts as learned
LEAST_EVALUATIONS = 3  # after the training lengths are learned, for a fall to have a chance to show
LEAST_HEIGHT = 0.2  # mean exact match beyond training above which a fall stands out from noise
MOSTLY_RIGHT = 0.5  # exact match from which a length counts as one that a model generalizes to

Measure = Callable[[Results, str], float | None]


def beyond(results: Results, run: str) -> float | None:
    """Mean exact match over the tested lengths beyond training."""
    return _mean([row["exact_match"] for row in results.exact_match(run) if row["digits"] > _trained(results, run)])


def inside(results: Results, run: str) -> float | None:
    """Mean exact match over the tested training lengths."""
    return _mean([row["exact_match"] for row in results.exact_match(run) if row["digits"] <= _trained(results, run)])


def at_training_length(results: Results, run: str) -> float | None:
    """Exact match at the longest tested training length."""
    rows = [row for row in results.exact_match(run) if row["digits"] <= _trained(results, run)]
    return rows[-1]["exact_match"] if rows else None


def at_longest(results: Results, run: str) -> float | None:
    """Exact match at the longest tested length."""
    rows = results.exact_match(run)
    return rows[-1]["exact_match"] if rows else None


def factor(results: Results, run: str) -> float | None:
    """The longest length up to which every tested length has 90% exact match, over the training length."""
    scores = {row["digits"]: row["exact_match"] for row in results.exact_match(run)}
    return generalization(scores, _trained(results, run)).factor if scores else None


def loss(results: Results, run: str) -> float | None:
    """Training loss, averaged over the last tenth of the logged steps."""
    return results.trial(run)["final_loss"]


def sharpness(results: Results, run: str) -> float | None:
    """How suddenly exact match at the training length rises, near 1 for a jump and lower for a slow climb.

    One less the share of the training steps between the first time that it is a quarter and the first time that it is
    three quarters, read off the evaluations in training with straight lines between them. None if it stays below.
    (Not of next-token accuracy, as in the paper: at mini scale sums grow longer in training, which makes it zigzag.)
    """
    trained = _trained(results, run)
    rows = results.evolution(run)
    longest = max((row["digits"] for row in rows if row["digits"] <= trained), default=0)
    course = sorted((row["step"], row["exact_match"]) for row in rows if row["digits"] == longest)
    quarter, three_quarters = _first_reaching(course, 0.25), _first_reaching(course, 0.75)
    if quarter is None or three_quarters is None:
        return None
    return 1 - (three_quarters - quarter) / max(row["step"] for row in rows)


def setback(results: Results, run: str) -> float | None:
    """The largest fall of exact match beyond training once the training lengths are learned, less that by chance.

    None if it was never high enough to fall, or too seldom evaluated.
    """
    trained = _trained(results, run)
    rows = results.evolution(run)
    shares = {(row["step"], row["digits"]): row["exact_match"] for row in rows}
    steps = sorted({row["step"] for row in rows})
    lengths = [n for n in sorted({row["digits"] for row in rows}) if all((step, n) in shares for step in steps)]
    near, far = [n for n in lengths if n <= trained], [n for n in lengths if n > trained]
    if not near or not far:
        return None
    learned = next((step for step in steps if min(shares[step, n] for n in near) >= LEARNED), None)
    if learned is None:
        return None
    courses = np.array([[shares[step, n] for step in steps if step >= learned] for n in far])
    if courses.shape[1] < LEAST_EVALUATIONS or courses.mean(axis=0).max() < LEAST_HEIGHT:
        return None
    return excess_fall(courses, sums_behind(shares.values()))


def carry_excess(results: Results, run: str) -> float | None:
    """The share of wrong digits with an incoming carry, less that of all digits at the same places."""
    wrong, all_of_them = (_error(results, run, "carry", key) for key in (WRONG_DIGITS, SAME_PLACES))
    return None if wrong is None or all_of_them is None else wrong - all_of_them


def misplaced(results: Results, run: str) -> float | None:
    """Share of wrong digits that a neighbouring place would give, less that by chance; just beyond training."""
    rows = [row for row in results.errors(run) if row["measure"] in ("shifts", "shifts base")]
    lengths = {row["digits"] for row in rows}
    first = min(lengths - {ALL_LENGTHS}, default=ALL_LENGTHS)
    signed = {"shifts": 1, "shifts base": -1}
    near = [row for row in rows if row["digits"] == first and row["key"] in ("-1", "+1")]
    return sum(signed[row["measure"]] * row["value"] for row in near) if near else None


def single_digit(results: Results, run: str) -> float | None:
    """Share of wrong answers with one wrong digit, at the longest length beyond training that is mostly right.

    Answers that are wrong without a wrong digit (a hint, the end) are left out.
    """
    scores = {row["digits"]: row["exact_match"] for row in results.exact_match(run)}
    found = {
        row["digits"]: row["value"]
        for row in results.errors(run)
        if (row["measure"], row["key"]) == ("counts", "1")
        and row["digits"] > _trained(results, run)
        and scores.get(row["digits"], 0.0) >= MOSTLY_RIGHT
    }
    return found[max(found)] if found else None


MEASURES: dict[str, Measure] = {
    function.__name__.replace("_", " "): function
    for function in (
        *(beyond, inside, at_training_length, at_longest, factor, loss, sharpness, setback),
        *(carry_excess, misplaced, single_digit),
    )
}
SHARES = {"beyond", "inside", "at training length", "at longest", "sharpness", "single digit"}  # from 0 to 1


def describe(name: str) -> str:
    """What a measure is, in words."""
    text = (MEASURES[name].__doc__ or "").partition("\n")[0].rstrip(".")
    return text[:1].lower() + text[1:]


def _trained(results: Results, run: str) -> int:
    return results.trial(run)["trained_digits"]


def _mean(values: list[float]) -> float | None:
    return fmean(values) if values else None


def _first_reaching(course: list[tuple[int, float]], level: float) -> float | None:
    """Where a course of (step, value) first reaches a level, on straight lines between its points from (0, 0) on."""
    before = (0, 0.0)
    for step, value in course:
        if value >= level:
            return before[0] + (step - before[0]) * (level - before[1]) / (value - before[1])
        before = (step, value)
    return None


def _error(results: Results, run: str, measure: str, key: str) -> float | None:
    """A number of the error analysis over all lengths beyond training together."""
    found = [row for row in results.errors(run) if (row["measure"], row["key"]) == (measure, key)]
    return next((row["value"] for row in found if row["digits"] == ALL_LENGTHS), None)


DRAWN = 400  # courses by chance
MOST_SUMS = 100_000

Array = NDArray[np.float64]


def excess_fall(courses: Array, sums: int) -> float:
    """The largest fall of the mean of `courses` (lengths, evaluations), less what chance alone makes of it on average.

    With few sums in an evaluation, the largest of many differences is large whatever the model does: at 64 sums and a
    steady skill of 50%, twelve evaluations of two lengths differ by 14 points.

    Chance: at each evaluation `sums` problems are answered with the skill that never falls and fits a course best.
    """
    from scipy.optimize import isotonic_regression

    skill = np.clip([isotonic_regression(course).x for course in courses], 0.0, 1.0)
    by_chance = generator(0, "setback").binomial(sums, skill, (DRAWN, *skill.shape)) / sums
    return float(largest_fall(courses.mean(axis=0)) - largest_fall(by_chance.mean(axis=1)).mean())


def largest_fall(courses: Array) -> Array:
    """From an earlier height, along the last axis.

    >>> float(largest_fall(np.array([0.1, 0.5, 0.2, 0.6])))
    0.3
    """
    return (np.maximum.accumulate(courses, axis=-1) - courses).max(axis=-1)


def sums_behind(shares: Iterable[float]) -> int:
    """The least number of sums of which all these shares, of six digits, are whole parts.

    It divides the true number; a smaller one only makes chance larger.

    >>> sums_behind([0.015625, 0.5]), sums_behind([0.333333, 1.0])
    (64, 3)
    """
    found = np.asarray(list(shares))
    return next(n for n in range(1, MOST_SUMS) if np.abs(found * n - np.round(found * n)).max() <= n * 1e-6)
