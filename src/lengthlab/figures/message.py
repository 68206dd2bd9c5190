"""What a figure says, in one sentence from its own numbers: its title where nobody gave another."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import TypeVar

from lengthlab.figures.data import Points, Seed, Setting, in_panels, longest_trained, points, pooled, scores_at
from lengthlab.figures.panels import plain_power
from lengthlab.statistics import generalization, percent
from lengthlab.statistics.lengths import lengths_beyond

T = TypeVar("T")
FEW = 5  # names that fit into a title
REACHED = 0.9  # exact match from which a length counts as reached


def medians(settings: Sequence[Setting], length: int | None = None) -> str:
    """How the settings compare beyond training: the median of each, the highest first; or how far seeds are apart."""
    length = length or _length(settings)
    found = {setting.label: scores for setting in settings if (scores := scores_at(setting, length))}
    if len(found) == 1:
        ((label, scores),) = found.items()
        if len(scores) == 1:
            return f"{label}: {percent(scores[0])} right {_where(settings, length)}"
        spread = f"{percent(min(scores))} to {percent(max(scores))}"
        return f"{label}: {spread} over seeds {_where(settings, length)}, median {percent(median(scores))}"
    return f"Median {_where(settings, length)}: {ranking({label: median(found[label]) for label in found})}"


def ranking(shares: Mapping[str, float]) -> str:
    """Names with their shares, the highest first; the two ends if there are many.

    >>> ranking({"RoPE": 0.0, "FIRE": 0.84})
    'FIRE 84%, RoPE 0%'
    >>> ranking({"A": 0.5, "B": 0.0, "C": 0.4, "D": 0.3, "E": 0.2, "F": 0.0})
    'from 50% (A) down to 0% (2 of 6)'
    """
    ordered = sorted(shares.items(), key=lambda item: -item[1])
    if len(ordered) > FEW:
        return f"from {_end(ordered, 0)} down to {_end(ordered, -1)}"
    mark = "; " if any("," in name for name in shares) else ", "
    return mark.join(f"{name} {percent(share)}" for name, share in ordered)


def _end(ordered: Sequence[tuple[str, float]], which: int) -> str:
    """The first or the last of a ranking, or how many share its place."""
    name, share = ordered[which]
    alike = sum(percent(other) == percent(share) for _, other in ordered)
    return f"{percent(share)} ({name if alike == 1 else f'{alike} of {len(ordered)}'})"


def variants(settings: Sequence[Setting]) -> str:
    """How variants compare beyond training: the lowest and the highest median over the panels that have them all."""
    length = _length(settings)
    panels: dict[str, dict[str, float]] = {}
    for setting in in_panels(settings):
        if scores := scores_at(setting, length):
            panels.setdefault(setting.panel, {})[setting.variant] = median(scores)
    if len({name for by_variant in panels.values() for name in by_variant}) < 2:
        return medians(settings)
    found, alone = _comparable(panels)
    ranges = [f"{variant} {_span(middle)}" for variant, middle in found.items()]
    return f"Medians {_where(settings, length)}{alone}: {'; '.join(ranges)}"


def _comparable(panels: Mapping[str, Mapping[str, T]]) -> tuple[dict[str, list[T]], str]:
    """What each variant has in the panels that have them all, by variant; and which panels these are, if not all.

    >>> _comparable({"RoPE": {"hints": 1, "none": 0}, "FIRE": {"hints": 1}})
    ({'hints': [1], 'none': [0]}, ' (RoPE)')
    """
    names = list(dict.fromkeys(name for by_variant in panels.values() for name in by_variant))
    complete = {panel: by_variant for panel, by_variant in panels.items() if len(by_variant) == len(names)}
    found = {name: [one[name] for one in (complete or panels).values() if name in one] for name in names}
    return found, f" ({', '.join(complete)})" if 0 < len(complete) < len(panels) else ""


def orders(settings: Sequence[Setting], length: int) -> str:
    """How much the order of the data decides, and how much the initial weights."""
    found = [scores for setting in settings if len(scores := scores_at(setting, length)) > 1]
    if not found:
        return medians(settings)
    apart = sorted(_points_apart(scores) for scores in found)
    ends = " to ".join(dict.fromkeys(map(str, (apart[0], apart[-1]))))
    between = f", the medians of initial weights {_points_apart([median(scores) for scores in found])}"
    return f"At {length} digits data orders are {ends} points apart{between if len(found) > 1 else ''}"


def _points_apart(scores: Sequence[float]) -> int:
    return round(100 * (max(scores) - min(scores)))


def reached(curves: Mapping[str, Mapping[int, float]], trained: Mapping[str, int]) -> str:
    """Up to which length each curve, by its label, is mostly right.

    >>> reached({"FIRE": {10: 1.0, 15: 0.8}, "coupled": {10: 1.0, 100: 0.98}}, {"FIRE": 10, "coupled": 10})
    'Trained on 1-10 digits, at least 90% right up to 100 digits (coupled), 10 (FIRE)'
    >>> reached({"FIRE": {1: 0.2, 10: 0.1}}, {"FIRE": 10})
    'Trained on 1-10 digits, less than 90% right even on the shortest sums'
    """
    longest = {label: generalization(scores, trained[label], REACHED).longest for label, scores in curves.items()}
    ranges = " or ".join(f"1-{digits}" for digits in sorted(set(trained.values())))
    if not any(longest.values()):
        return f"Trained on {ranges} digits, less than {percent(REACHED)} right even on the shortest sums"
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
    return f"Median at {length} digits at the end of training: {ranking(last)}"


def losses(settings: Sequence[Setting]) -> str:
    """The loss when training ends: the median of each variant, over all encodings and seeds."""
    panels: dict[str, dict[str, list[float]]] = {}
    for setting in in_panels(settings):
        ends = [course[-1][1] for seed in setting.seeds if (course := points(seed.training, "step", "loss"))]
        if ends:
            panel = setting.panel if setting.variant else ""
            panels.setdefault(panel, {})[setting.variant or setting.panel] = ends
    found, alone = _comparable(panels)
    middle = {name: median(end for ends in of_panels for end in ends) for name, of_panels in found.items()}
    told = ", ".join(f"{name} {plain_power(float(f'{loss:.2g}'))}" for name, loss in middle.items())
    return f"Loss at the end of training, median over all seeds{alone}: {told}"


def single_digits(shares: Mapping[str, Sequence[float]], length: int) -> str:
    """How many wrong answers have one wrong digit and no more, by setting."""
    told = {label: median(found) for label, found in shares.items() if found}
    where = f" at {length} digits" if length else ""
    return f"Wrong answers with a single wrong digit{where}, median: {ranking(told)}" if told else ""


def kinds(settings: Sequence[Setting], of: Callable[[Seed, str], Points], names: Sequence[str]) -> str:
    """How test sums of several kinds compare at the shortest length beyond training, over the settings.

    `of` gives the exact match of a seed by length, for one of the named kinds.
    """
    lengths = [int(x) for setting in settings for seed in setting.seeds for name in names for x, _ in of(seed, name)]
    beyond = [length for length in lengths if length > longest_trained(settings)]
    length = min(beyond or lengths)
    found: dict[str, list[float]] = {}
    for setting in settings:
        for name in names:
            if scores := [dict(course)[length] for seed in setting.seeds if length in dict(course := of(seed, name))]:
                found.setdefault(name, []).append(median(scores))
    told = [f"{name} {_span(middle)}" for name, middle in found.items()]
    return f"Medians {_where(settings, length)}: {'; '.join(told)}"


def _span(shares: Sequence[float]) -> str:
    return " to ".join(dict.fromkeys(map(percent, (min(shares), max(shares)))))


def _length(settings: Sequence[Setting]) -> int:
    """The tested length nearest to 1.5 times that of training."""
    return lengths_beyond(pooled(settings), longest_trained(settings), (1.5,))[0]


def _where(settings: Sequence[Setting], length: int) -> str:
    trained = {setting.trained for setting in settings}
    (limit,) = trained if len(trained) == 1 else (0,)
    return f"at {length} digits" + (f", {length / limit:.3g} times the training length" if 0 < limit < length else "")
