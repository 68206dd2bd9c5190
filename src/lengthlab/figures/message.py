"""What a figure says, in one sentence from its own numbers: its title where nobody gave another."""

from collections.abc import Mapping, Sequence
from statistics import median

from lengthlab.figures.data import Setting, in_panels, longest_trained, points, pooled, scores_at
from lengthlab.figures.panels import plain_power
from lengthlab.statistics import generalization, percent
from lengthlab.statistics.lengths import lengths_beyond

FEW = 5  # names that fit into a title
REACHED = 0.9  # exact match from which a length counts as reached


def medians(settings: Sequence[Setting]) -> str:
    """How the settings compare beyond training: the median of each, the highest first; or how far seeds lie apart."""
    length = _length(settings)
    found = {setting.label: scores for setting in settings if (scores := scores_at(setting, length))}
    if len(found) == 1:
        ((label, scores),) = found.items()
        if len(scores) == 1:
            return f"{label}: {percent(scores[0])} right {_where(settings, length)}"
        spread = f"{percent(min(scores))} to {percent(max(scores))}"
        return f"{label}: seeds have {spread} {_where(settings, length)}, median {percent(median(scores))}"
    return f"Median {_where(settings, length)}: {ranking({label: median(found[label]) for label in found})}"


def ranking(shares: Mapping[str, float]) -> str:
    """Names with their shares, the highest first; the two ends if there are many.

    >>> ranking({"RoPE": 0.0, "FIRE": 0.84})
    'FIRE 84%, RoPE 0%'
    """
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    if len(ordered) > FEW:
        (best, high), (worst, low) = ordered[0], ordered[-1]
        return f"from {percent(high)} ({best}) down to {percent(low)} ({worst})"
    mark = "; " if any("," in name for name in shares) else ", "
    return mark.join(f"{name} {percent(share)}" for name, share in ordered)


def variants(settings: Sequence[Setting]) -> str:
    """How variants compare beyond training: the lowest and the highest median over the panels that have them all."""
    length = _length(settings)
    panels: dict[str, dict[str, float]] = {}
    for setting in in_panels(settings):
        if scores := scores_at(setting, length):
            panels.setdefault(setting.panel, {})[setting.variant] = median(scores)
    names = list(dict.fromkeys(name for by_variant in panels.values() for name in by_variant))
    if len(names) < 2:
        return medians(settings)
    complete = {panel: by_variant for panel, by_variant in panels.items() if len(by_variant) == len(names)}
    found = {name: [one[name] for one in (complete or panels).values() if name in one] for name in names}
    alone = f" ({', '.join(complete)})" if 0 < len(complete) < len(panels) else ""
    ranges = [
        f"{variant} {' to '.join(dict.fromkeys(map(percent, (min(middle), max(middle)))))}"
        for variant, middle in found.items()
    ]
    return f"Medians {_where(settings, length)}{alone}: {'; '.join(ranges)}"


def orders(settings: Sequence[Setting], length: int) -> str:
    """How much the order of the data alone decides."""
    apart = {
        setting.label: (max(scores) - min(scores), scores)
        for setting in settings
        if len(scores := scores_at(setting, length)) > 1
    }
    if not apart:
        return medians(settings)
    label, (_, scores) = max(apart.items(), key=lambda item: item[1][0])
    spread = f"{percent(min(scores))} to {percent(max(scores))}"
    return f"The same initial weights, other data orders: {spread} at {length} digits ({label})"


def reached(curves: Mapping[str, Mapping[int, float]], trained: Mapping[str, int]) -> str:
    """Up to which length each curve, by its label, is mostly right.

    >>> reached({"FIRE": {10: 1.0, 15: 0.8}, "coupled": {10: 1.0, 100: 0.98}}, {"FIRE": 10, "coupled": 10})
    'Trained on 1-10 digits, at least 90% right up to 100 digits (coupled), 10 (FIRE)'
    >>> reached({"FIRE": {1: 0.2, 10: 0.1}}, {"FIRE": 10})
    'Trained on 1-10 digits, less than 90% right from the shortest sums on'
    """
    longest = {label: generalization(scores, trained[label], REACHED).longest for label, scores in curves.items()}
    ranges = " or ".join(f"1-{digits}" for digits in sorted(set(trained.values())))
    if not any(longest.values()):
        return f"Trained on {ranges} digits, less than {percent(REACHED)} right from the shortest sums on"
    if len(longest) <= FEW:
        told = [f"{length} ({label})" for label, length in sorted(longest.items(), key=lambda item: -item[1])]
        told[0] = told[0].replace(" (", " digits (", 1)
    else:
        low, high = min(longest.values()), max(longest.values())
        told = [f"{low} digits" if low == high else f"{low} to {high} digits, by run"]
    return f"Trained on {ranges} digits, at least {percent(REACHED)} right up to {', '.join(told)}"


def factors(of_medians: Mapping[str, float]) -> str:
    """The farthest that the median seed of a setting reaches, in training lengths."""
    best = max(of_medians, key=lambda label: of_medians[label])
    return f"The median seed reaches at most {of_medians[best]:.3g} times its training length ({best})"


def in_the_end(settings: Sequence[Setting], length: int) -> str:
    """Exact match at a length when training ends: the median of each setting."""
    last: dict[str, float] = {}
    for setting in settings:
        courses = [
            points([row for row in seed.evolution if row["digits"] == length], "step", "exact_match")
            for seed in setting.seeds
        ]
        if ends := [course[-1][1] for course in courses if course]:
            last[setting.label] = median(ends)
    return f"Median at {length} digits as training ends: {ranking(last)}"


def losses(settings: Sequence[Setting]) -> str:
    """The loss when training ends: the median of each variant, over all encodings and seeds."""
    found: dict[str, list[float]] = {}
    for setting in in_panels(settings):
        for seed in setting.seeds:
            if course := points(seed.training, "step", "loss"):
                found.setdefault(setting.variant or setting.panel, []).append(course[-1][1])
    told = ", ".join(f"{name} {plain_power(float(f'{median(ends):.2g}'))}" for name, ends in found.items())
    return f"Loss as training ends, median over all seeds: {told}"


def single_digits(shares: Mapping[str, Sequence[float]]) -> str:
    """How many wrong answers have one wrong digit and no more, by setting."""
    told = {label: median(found) for label, found in shares.items() if found}
    return f"Wrong answers with a single wrong digit, median: {ranking(told)}" if told else ""


def _length(settings: Sequence[Setting]) -> int:
    """The tested length nearest to 1.5 times that of training."""
    return lengths_beyond(pooled(settings), longest_trained(settings), (1.5,))[0]


def _where(settings: Sequence[Setting], length: int) -> str:
    trained = {setting.trained for setting in settings}
    (limit,) = trained if len(trained) == 1 else (0,)
    return f"at {length} digits" + (f", {length / limit:.3g} times the training length" if 0 < limit < length else "")
