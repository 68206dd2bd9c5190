"""Statistics over seeds, from plain numbers: intervals, summaries, comparisons of two settings.

    {seed: exact match} -> SeedSummary          {length: exact match} -> Generalization
    {seed: exact match} x 2 -> Comparison       correct, examples -> Wilson interval

Scores are shares from 0 to 1. SciPy takes a second to import, so it is imported where it is used.
"""

from lengthlab.statistics.compare import Comparison, compare
from lengthlab.statistics.intervals import deviation_interval, t_interval, wilson
from lengthlab.statistics.seeds import LEVELS, Generalization, SeedSummary, generalization
from lengthlab.statistics.text import median_text, p_text, percent

__all__ = [
    "LEVELS",
    "Comparison",
    "Generalization",
    "SeedSummary",
    "compare",
    "deviation_interval",
    "generalization",
    "median_text",
    "p_text",
    "percent",
    "t_interval",
    "wilson",
]
