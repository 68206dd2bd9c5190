"""One number for a run, from the result tables alone; None where the tables do not tell."""

from collections.abc import Callable
from statistics import fmean

from lengthlab.results import Results, Row
from lengthlab.statistics import generalization

LEARNED = 0.95  # exact match from which a length counts as learned
LEAST_GAIN = 0.1  # of next-token accuracy, below which there is no transition to time
SMOOTHED = 5  # logged steps averaged before a transition is timed

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
    """How suddenly next-token accuracy rises, near 1 for a jump and near 0 for a slow climb.

    From the accuracy of the first 2-5% of the steps (tokens that need no sum are known by then) to that of the last
    tenth: the step at which a quarter of the rise is done, over the step at which three quarters are. None if there is
    no rise to speak of.
    """
    rows = results.training(run)
    if not rows:
        return None
    steps = rows[-1]["step"]
    early = [row["accuracy"] for row in rows if 0.02 * steps <= row["step"] <= 0.05 * steps] or [rows[0]["accuracy"]]
    start, end = fmean(early), fmean(row["accuracy"] for row in rows if row["step"] > 0.9 * steps)
    if end - start < LEAST_GAIN:
        return None

    def reached(share: float) -> int:
        """The first logged step whose smoothed accuracy has risen by this share of the whole rise."""
        for index, row in enumerate(rows):
            around = rows[max(0, index - SMOOTHED // 2) : index + SMOOTHED // 2 + 1]
            if fmean(other["accuracy"] for other in around) >= start + share * (end - start):
                return row["step"]
        return steps

    return reached(0.25) / reached(0.75)


def setback(results: Results, run: str) -> float | None:
    """The largest fall of exact match beyond training from an earlier height, once the training lengths are learned."""
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
    return fall if learned else None


def carry_excess(results: Results, run: str) -> float | None:
    """The share of wrong digits that a carry goes into, less the share of all digits at the same places."""
    wrong, all_of_them = (
        _error(results, run, "carry", key) for key in ("wrong digits", "all digits at the same places")
    )
    return None if wrong is None or all_of_them is None else wrong - all_of_them


def single_digit(results: Results, run: str) -> float | None:
    """The share of answers with exactly one wrong digit among those with any."""
    return _error(results, run, "counts", "1")


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


def _error(results: Results, run: str, measure: str, key: str) -> float | None:
    """A number of the error analysis, averaged over the lengths beyond training (0 stands for all of them together)."""
    trained = _trained(results, run)
    found = [row for row in results.errors(run) if row["measure"] == measure and row["key"] == key]
    return _mean([row["value"] for row in found if not row["digits"] or row["digits"] > trained])
