"""Far beyond the training length: exact match of every seed on a logarithmic axis of lengths, a panel for each test."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from matplotlib.ticker import NullLocator, PercentFormatter

from lengthlab.figures.data import Look
from lengthlab.figures.ledger import Aids
from lengthlab.figures.panels import (
    finish,
    key,
    legend_below,
    nothing_to_draw,
    outer,
    panel_title,
    panels,
)
from lengthlab.figures.style import COLOURS, DIGITS, MARKERS, QUIET, SHADE, style

TESTS = {
    "uniform": "uniform sums",
    "carry chain": "a carry through all places",
    "equal": "a number and itself",
    "sparse": "zeros but for one digit",
}
GOAL = 0.99
APART = 0.05  # between the points of two recipes at one length, as a power of ten


def far_beyond(
    rows: Sequence[Mapping[str, Any]], trained: int, path: Path, title: str = "", aids: Aids | None = None
) -> list[Path]:
    """`rows` have recipe, seed, test, digits and exact_match; every seed is a thin line, their median a bold one.

    `aids` say what each recipe is given; that stands under the figure.
    """
    with style():
        tests = [test for test in TESTS if any(row["test"] == test for row in rows)]
        if not tests:
            return nothing_to_draw(path, title)
        recipes = list(dict.fromkeys(row["recipe"] for row in rows))
        figure, axes = panels(len(tests), height=2.0 if len(tests) > 2 else 1.75)
        lengths = _apart({int(row["digits"]) for row in rows if int(row["digits"]) >= trained})
        for panel, test in zip(axes, tests, strict=True):
            _axes(panel, lengths, trained)
            for which, recipe in enumerate(recipes):
                mine = [row for row in rows if (row["recipe"], row["test"]) == (recipe, test)]
                shift = 10 ** (APART * (which - (len(recipes) - 1) / 2))
                _recipe(panel, [row for row in mine if int(row["digits"]) in lengths], which, shift)
            panel_title(panel, TESTS[test], len(tests))
        outer(axes, DIGITS, "exact match, stretched near 100%")
        entries: list[tuple[str, Look]] = [
            (f"{recipe} ({_seeds(rows, recipe)})", {"color": COLOURS[which], "marker": MARKERS[which], "markersize": 4})
            for which, recipe in enumerate(recipes)
        ]
        entries.append(("99%", {"color": QUIET, "linewidth": 0.8, "linestyle": (0, (4, 2))}))
        legend_below(figure, key(*entries, shade=f"trained on 1-{trained} digits"), columns=2)
        given = {recipe: sentences for recipe, sentences in (aids or {}).items() if recipe in recipes}
        return finish(figure, path, title, given)


def _seeds(rows: Sequence[Mapping[str, Any]], recipe: str) -> str:
    count = len({row["seed"] for row in rows if row["recipe"] == recipe})
    return f"{count} seed{'' if count == 1 else 's'}"


def _axes(axes: Any, lengths: Sequence[int], trained: int) -> None:
    """Lengths on a logarithmic axis; shares on one that shows small shares of wrong answers."""
    low, high = min(lengths) * 0.7, max(lengths) * 1.4
    axes.axvspan(low, trained * 1.15, color=SHADE, zorder=0, linewidth=0)
    axes.axhline(GOAL, color=QUIET, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    shown = [length for length in lengths if str(length).rstrip("0") in ("1", "3")]
    axes.set_xticks(shown, [f"{length:,}" for length in shown], fontsize=8)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yscale("function", functions=(_stretched, _shrunk))
    axes.set_ylim(0, 1)
    axes.set_yticks([0, 0.5, 0.9, GOAL, 1])
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.tick_params(axis="y", labelsize=8)


def _stretched(share: Any) -> Any:
    """Between 99% and 100% lies a tenth of the axis: 1 - sqrt(share of wrong answers)."""
    return 1 - np.sqrt(np.clip(1 - share, 0, None))


def _shrunk(height: Any) -> Any:
    return 1 - (1 - height) ** 2


def _apart(lengths: Collection[int]) -> list[int]:
    """Round lengths, far enough apart for the points of several seeds, and the longest.

    >>> _apart([10, 12, 15, 20, 50, 90, 100, 300, 1000, 4000])
    [10, 20, 50, 100, 300, 1000, 4000]
    """
    return sorted(n for n in lengths if str(n).rstrip("0") in ("1", "2", "3", "5") or n == max(lengths))


def _recipe(axes: Any, rows: Sequence[Mapping[str, Any]], which: int, shift: float) -> None:
    """The seeds of one recipe in one panel, and the line of their medians."""
    colour, by_length, by_seed = COLOURS[which], {}, {}
    for row in sorted(rows, key=lambda row: int(row["digits"])):
        digits, score = int(row["digits"]), float(row["exact_match"])
        by_length.setdefault(digits, []).append(score)
        by_seed.setdefault(row["seed"], []).append((digits * shift, score))
    for course in by_seed.values():
        dots = {"marker": MARKERS[which], "markersize": 3, "alpha": 0.45, "linewidth": 0.7}
        axes.plot(*zip(*course, strict=True), color=colour, clip_on=False, zorder=3, **dots)
    medians = [median(scores) for scores in by_length.values()]
    axes.plot([n * shift for n in by_length], medians, color=colour, clip_on=False, zorder=4)
