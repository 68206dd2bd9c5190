"""The mistakes of several runs: the mean of every measure, with its spread."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean, stdev

from lengthlab.analysis.errors import Fit, Measure, Place, Summary
from lengthlab.analysis.verdicts import KINDS


def average(summaries: Sequence[Summary]) -> Summary:
    """Each run counts alike; `low` and `high` become the lowest and the highest run.

    A run without wrong answers says nothing about mistakes and counts for the share of wrong answers only. A kind of
    mistake or a number of wrong digits that a run does not show is 0 for it.
    """
    failing = [summary for summary in summaries if summary.first]
    fits = [summary.fit for summary in failing if summary.fit]
    counts = _average([summary.counts for summary in failing if summary.fit], absent_is_zero=True)
    return Summary(
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


def _average(tables: Sequence[Sequence[Measure]], absent_is_zero: bool = False) -> list[Measure]:
    by_name: dict[str, list[Measure]] = {}
    for measure in (measure for table in tables for measure in table):
        by_name.setdefault(measure.name, []).append(measure)
    averaged = []
    for name in _in_order(list(by_name)):
        found = by_name[name]
        missing = len(tables) - len(found) if absent_is_zero else 0
        shares = [measure.share for measure in found] + [0.0] * missing
        bases = [measure.base for measure in found if measure.base is not None]
        averaged.append(
            Measure(
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
