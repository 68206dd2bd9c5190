"""One number for a run, from the result tables alone; None where the tables do not tell."""

from collections.abc import Callable
from statistics import fmean

from lengthlab.results import ALL_LENGTHS, Results, Row
from lengthlab.statistics import generalization

LEARNED = 0.95  # exact match from which a length counts as learned
LEAST_HEIGHT = 0.2  # mean exact match beyond training from which a fall can be told from noise
MOSTLY_RIGHT = 0.5  # exact match from which a length counts as one that a model generalizes to

Measure = Callable[[Results, str], float | None]


def beyond(results: Results, run: str) -> float | None:
    """Mean exact match over the tested lengths beyond training."""
    return _mean([row["exact_match"] for row in results.exact_match(run) if row["digits"] > _trained(results, run)])


def inside(results: Results, run: str) -> float | None:
    """Mean exact match over the tested lengths of training."""
    return _mean([row["exact_match"] for row in results.exact_match(run) if row["digits"] <= _trained(results, run)])


def at_training_length(results: Results, run: str) -> float | None:
    """Exact match at the longest tested length of training."""
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
    (Not of next-token accuracy, as in the paper: at mini scale sums grow longer in training, which makes that a saw.)
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
    """The largest fall of exact match beyond training from an earlier height, once the training lengths are learned.

    None if it was never high enough to fall.
    """
    trained = _trained(results, run)
    steps: dict[int, list[Row]] = {}
    for row in results.evolution(run):
        steps.setdefault(row["step"], []).append(row)
    height, fall, learned = 0.0, 0.0, False
    for _, rows in sorted(steps.items()):
        near = [row["exact_match"] for row in rows if row["digits"] <= trained]
        far = [row["exact_match"] for row in rows if row["digits"] > trained]
        learned = learned or (bool(near and far) and min(near) >= LEARNED)
        if learned:
            height, fall = max(height, fmean(far)), max(fall, height - fmean(far))
    return fall if height >= LEAST_HEIGHT else None


def carry_excess(results: Results, run: str) -> float | None:
    """The share of wrong digits that a carry goes into, less the share of all digits at the same places."""
    wrong, all_of_them = (
        _error(results, run, "carry", key) for key in ("wrong digits", "all digits at the same places")
    )
    return None if wrong is None or all_of_them is None else wrong - all_of_them


def single_digit(results: Results, run: str) -> float | None:
    """Share of wrong answers with exactly one wrong digit, at lengths beyond training of which at least half are right.

    Answers that are wrong without a wrong digit (a hint, the end) are left out.
    """
    scores = {row["digits"]: row["exact_match"] for row in results.exact_match(run)}
    rows = [
        row
        for row in results.errors(run)
        if (row["measure"], row["key"]) == ("counts", "1")
        and row["digits"] > _trained(results, run)
        and scores.get(row["digits"], 0.0) >= MOSTLY_RIGHT
    ]
    wrong = sum(row["wrong"] for row in rows)
    return sum(row["wrong"] * row["value"] for row in rows) / wrong if wrong else None


MEASURES: dict[str, Measure] = {
    function.__name__.replace("_", " "): function
    for function in (
        *(beyond, inside, at_training_length, at_longest, factor, loss, sharpness, setback),
        *(carry_excess, single_digit),
    )
}


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
