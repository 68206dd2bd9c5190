"""Which lengths to look at, where there are many. All choices follow from plain numbers: {length: scores}."""

from collections.abc import Mapping, Sequence
from statistics import fmean, pvariance
from typing import Any

ByLength = Mapping[int, Sequence[float]]  # exact match of all runs at each tested length


def evenly(lengths: Sequence[int], most: int, wanted: Sequence[int] = ()) -> list[int]:
    """At most `most` ascending lengths, evenly spaced from the first to the last, the wanted ones among them.

    >>> evenly(range(1, 16), 5, [6])
    [1, 6, 8, 11, 15]
    >>> evenly([3, 4], 5, [6])
    [3, 4]
    """
    if len(lengths) <= most:
        return list(lengths)
    step = (len(lengths) - 1) / (most - 1)
    chosen = {lengths[round(index * step)] for index in range(most)}
    kept = {lengths[0], lengths[-1]}
    for length in sorted(set(wanted) & set(lengths)):
        if length not in chosen:
            spare = chosen - kept
            chosen.discard(min(spare, key=lambda other: (abs(other - length), other)) if spare else -1)
            chosen.add(length)
        kept.add(length)
    return sorted(chosen)


def few_lengths(trained: int, tested: Sequence[int], most: int = 5) -> list[int]:
    """A few of many lengths: the longest one inside the training range, and those beyond evenly spread up to the last.

    >>> few_lengths(10, range(1, 31))
    [10, 15, 20, 25, 30]
    """
    inside, beyond = ([length for length in tested if (length <= trained) == within] for within in (True, False))
    return evenly([*inside[-1:], *beyond], most)


def lengths_beyond(scores: ByLength, trained: int, factors: Sequence[float] = (1.5, 2.0)) -> list[int]:
    """The tested lengths nearest to these multiples of the training length, fixed before anything is seen.

    A length at which no run scores at all is left out, if another one remains.
    """
    chosen = sorted({min(scores, key=lambda length: abs(length - factor * trained)) for factor in factors})
    return [length for length in chosen if any(scores[length])] or chosen[:1]


def most_spread_length(scores: ByLength, trained: int) -> int:
    """The tested length beyond training at which the runs lie furthest apart."""
    beyond = [length for length in scores if length > trained] or list(scores)
    return max(beyond, key=lambda length: pvariance(scores[length]) if scores[length] else 0.0)


def choose_lengths(evaluations: Sequence[Sequence[Mapping[str, Any]]], trained: int) -> tuple[list[int], str]:
    """At most two lengths to explain mistakes at, from the evaluation rows of runs; and why these.

    They are where runs begin to fail, and where they are right half the time.
    """
    by_run = [{row["digits"]: row["exact_match"] for row in rows} for rows in evaluations]
    common = set.intersection(*map(set, by_run)) if by_run else set()
    scores = {digits: fmean(run[digits] for run in by_run) for digits in sorted(common)}
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
