"""A figure in words: the numbers that someone who cannot see it should hear."""

from collections.abc import Sequence
from statistics import median

from lengthlab.figures.data import Setting, count, score_at
from lengthlab.figures.seeds import lengths_beyond, reached


def alternative(sentence: str, settings: Sequence[Setting]) -> str:
    """Text in place of a figure: what it is, and the median and the best seed of each setting beyond training."""
    return " ".join([sentence.rstrip(". ") + ".", *findings(settings)])


def findings(settings: Sequence[Setting]) -> list[str]:
    """One sentence for each setting that has been tested, at the length nearest to 1.5 times that of training."""
    tested = [setting for setting in settings if any(seed.exact_match for seed in setting.seeds)]
    if not tested:
        return ["No finished runs yet."]
    length = lengths_beyond(tested, (1.5,))[0]
    told = []
    for setting in tested:
        scores = [score for seed in setting.seeds if (score := score_at(seed, length)) is not None]
        if scores:
            told.append(
                f"{setting.label}: median {median(scores):.0%}, best {max(scores):.0%} at {length} digits"
                f" (trained on 1-{setting.trained}, {count(len(scores))})."
            )
    return told


def reach(setting: Setting, threshold: float = 0.9) -> list[int]:
    """For each seed the longest length up to which it keeps at least this exact match."""
    return sorted(reached(seed, threshold) for seed in setting.seeds if seed.exact_match)
