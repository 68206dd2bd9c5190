"""Far beyond the training length: exact match of every seed on a logarithmic axis of lengths, a panel for each test."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import NullLocator, PercentFormatter

from lengthlab.analysis.names import TESTS
from lengthlab.figures import message
from lengthlab.figures.data import Look, Points, Setting, count, curves_of, longest_trained, median_points
from lengthlab.figures.panels import (
    aids_by_label,
    finish,
    key,
    legend_below,
    nothing_to_draw,
    outer,
    panel_title,
    panels,
    shade_label,
)
from lengthlab.figures.style import DIGITS, QUIET, SHADE, looks, style

GOAL = 0.99
APART = 0.05  # between the points of two settings at one length, as a power of ten


def far_beyond(settings: Sequence[Setting], path: Path, title: str = "") -> list[Path]:
    """Every seed is a thin line, the median of a setting a bold one; all lengths of round numbers beyond training."""
    settings = [setting for setting in settings if any(seed.exact_match for seed in setting.seeds)]
    with style():
        if not settings:
            return nothing_to_draw(path, title)
        curves = {test: [curves_of(setting, kind) for setting in settings] for test, kind in TESTS.items()}
        tests = [test for test, of_settings in curves.items() if any(of_settings)]
        trained = longest_trained(settings)
        lengths = {test: _shown_lengths(curves[test], trained) for test in tests}
        every = sorted(set().union(*lengths.values()))
        figure, axes = panels(len(tests), height=2.0 if len(tests) > 2 else 1.75)
        looked = looks([setting.label for setting in settings])
        for panel, test in zip(axes, tests, strict=True):
            _axes(panel, every, trained)
            for which, (setting, of_seeds) in enumerate(zip(settings, curves[test], strict=True)):
                shift = 10 ** (APART * (which - (len(settings) - 1) / 2))
                shown = [[(n * shift, score) for n, score in seed if n in lengths[test]] for seed in of_seeds]
                _lines(panel, shown, *looked[setting.label])
            panel_title(panel, TESTS[test], len(tests))
        outer(axes, DIGITS, "exact match, stretched near 100%")
        entries: list[tuple[str, Look]] = [
            (f"{setting.label} ({count(len(setting.seeds))})", {"color": colour, "marker": marker, "markersize": 4})
            for setting in settings
            for colour, marker in [looked[setting.label]]
        ]
        entries.append(("99%", {"color": QUIET, "linewidth": 0.8, "linestyle": (0, (4, 2))}))
        legend_below(figure, key(*entries, shade=shade_label(settings)), columns=2)
        return finish(figure, path, title or message.medians(settings), aids_by_label(settings))


def _axes(axes: Any, lengths: Sequence[int], trained: int) -> None:
    """Lengths on a logarithmic axis; shares on one that shows small shares of wrong answers."""
    low, high = min(lengths) * 0.7, max(lengths) * 1.4
    axes.axvspan(low, trained * 1.15, color=SHADE, zorder=0, linewidth=0)
    axes.axhline(GOAL, color=QUIET, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    round_ones = [length for length in lengths if str(length).rstrip("0") in ("1", "3")]
    shown = round_ones if len(round_ones) > 1 else lengths
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


def _shown_lengths(curves: Sequence[Sequence[Points]], trained: int) -> list[int]:
    """The lengths of one test that are drawn, those beyond training if there are any."""
    tested = {int(length) for seeds in curves for seed in seeds for length, _ in seed}
    return _apart({length for length in tested if length >= trained} or tested)


def _apart(lengths: Collection[int]) -> list[int]:
    """Round lengths, far enough apart for the points of several seeds, and the longest.

    >>> _apart([10, 12, 15, 20, 50, 90, 100, 300, 1000, 4000])
    [10, 20, 50, 100, 300, 1000, 4000]
    """
    return sorted(n for n in lengths if str(n).rstrip("0") in ("1", "2", "3", "5") or n == max(lengths))


def _lines(axes: Any, curves: Sequence[Points], colour: str, marker: str) -> None:
    """The seeds of one setting in one panel, and the line of their medians."""
    for curve in filter(None, curves):
        dots = {"marker": marker, "markersize": 3, "alpha": 0.45, "linewidth": 0.7}
        axes.plot(*zip(*curve, strict=True), color=colour, clip_on=False, zorder=3, **dots)
    if medians := median_points(curves):
        axes.plot(*zip(*medians, strict=True), color=colour, clip_on=False, zorder=4)
