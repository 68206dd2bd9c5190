"""A figure in words: the numbers that someone who cannot see it should hear."""

from collections.abc import Sequence
from statistics import median

from lengthlab.figures.data import Setting, count, lengths_beyond, scores_at


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
        if scores := scores_at(setting, length):
            told.append(
                f"{setting.label}: median {median(scores):.0%}, best {max(scores):.0%} at {length} digits"
                f" (trained on 1-{setting.trained}, {count(len(scores))})."
            )
    return told
