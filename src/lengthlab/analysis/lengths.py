"""Which lengths to look at, if nobody says: those where a run begins to fail and where it is right half the time."""

from collections.abc import Sequence
from statistics import mean
from typing import Any


def choose_lengths(evaluations: Sequence[Sequence[dict[str, Any]]], trained: int) -> tuple[list[int], str]:
    """At most two lengths for runs with these evaluation rows, trained up to `trained` digits; and why these."""
    scores = _mean_scores(evaluations)
    if not scores:
        return [trained + 1], "one digit more than in training: there is no evaluation to choose by"
    on_average = " on average" if len(evaluations) > 1 else ""
    beyond = {digits: score for digits, score in scores.items() if digits > trained}
    failing = [digits for digits, score in beyond.items() if score <= 0.99]
    if failing:
        half = min(beyond, key=lambda digits: (abs(beyond[digits] - 0.5), digits))
        begins = f"{failing[0]} is the first tested length beyond training with at least 1% wrong{on_average}"
        if half == failing[0]:
            return [half], f"{begins}, and the nearest to half wrong"
        return sorted({failing[0], half}), f"{begins}, {half} the nearest to half wrong"
    worst = min(scores, key=lambda digits: (scores[digits], -digits))
    if scores[worst] < 1:
        return [worst], f"the tested length with the most wrong answers{on_average}"
    return [max(scores)], "the longest tested length; no length had a wrong answer"


def _mean_scores(evaluations: Sequence[Sequence[dict[str, Any]]]) -> dict[int, float]:
    """Mean exact match at every length that all runs were tested on, ascending."""
    by_run = [{row["digits"]: row["exact_match"] for row in rows} for rows in evaluations]
    common = set.intersection(*map(set, by_run)) if by_run else set()
    return {digits: mean(run[digits] for run in by_run) for digits in sorted(common)}


def spread_lengths(tested: Sequence[int], trained: int, chosen: Sequence[int], most: int = 12) -> list[int]:
    """About `most` lengths from 1 to the longest, evenly among those tested, with `trained` and `chosen` among them."""
    candidates = sorted({*range(1, trained + 1), *tested, *chosen})
    step = max(1.0, (len(candidates) - 1) / (most - 1))
    evenly = {candidates[round(index * step)] for index in range(most) if round(index * step) < len(candidates)}
    return sorted(evenly | {trained, *chosen})
