"""Timing on a machine whose speed wanders: contestants take turns, medians are compared."""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Seconds of one call: the median of the repeats, and the quartiles around it."""

    median: float
    low: float
    high: float


def take_turns(contestants: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, Timing]:
    """Call every contestant `repeats` times, in turns, after one call each to warm up."""
    for call in contestants.values():
        call()
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, call in contestants.items():
            started = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - started)
    return {name: _summary(values) for name, values in seconds.items()}


def _summary(values: list[float]) -> Timing:
    low, median, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    return Timing(median, low, high)
