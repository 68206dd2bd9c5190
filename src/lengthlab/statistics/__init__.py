"""Statistics over seeds, from plain numbers: intervals, summaries, comparisons of two settings.

    {seed: exact match} -> SeedSummary          {length: exact match} -> Generalization
    {seed: exact match} x 2 -> Comparison       correct, examples -> Wilson interval

Scores are shares from 0 to 1. SciPy takes a second to import, so it is imported where it is used.
"""

from lengthlab.statistics.compare import Comparison, compare
from lengthlab.statistics.intervals import bootstrap_interval, deviation_interval, t_interval, wilson
from lengthlab.statistics.seeds import LEVELS, Generalization, SeedSummary, generalization, percent

__all__ = [
    "LEVELS",
    "Comparison",
    "Generalization",
    "SeedSummary",
    "bootstrap_interval",
    "compare",
    "deviation_interval",
    "generalization",
    "percent",
    "t_interval",
    "wilson",
]
