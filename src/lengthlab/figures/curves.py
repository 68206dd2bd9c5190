"""Exact match by digit length of single runs: a line for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes

from lengthlab.figures.data import TableRow, points
from lengthlab.figures.message import reached
from lengthlab.figures.panels import (
    finish,
    key,
    legend_below,
    marked_line,
    panels,
    percent_axis,
    shade_training,
)
from lengthlab.figures.style import COLOURS, DIGITS, MARKERS, QUIET, WIDTH, length_axis, style

BROAD = 1.25 * WIDTH  # one panel may be wider than one of several


@dataclass(frozen=True)
class Curve:
    """The evaluation rows of one run, with its label and the longest length it was trained on."""

    label: str
    rows: Sequence[TableRow]
    trained: int
    aids: Sequence[str] = ()  # what it is given, in the sentences of the aid ledger
    ends: str = ""  # why there is nothing beyond its last length, if there is a reason


def exact_match_by_length(curves: Sequence[Curve], path: Path, title: str = "") -> list[Path]:
    """Draw `curves`; bands are 95% Wilson intervals. Returns the files."""
    with style():
        figure, (axes,) = panels(1, figsize=(BROAD, 3.9))
        named = []
        for index, curve in enumerate(curves):
            colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
            digits = [row["digits"] for row in curve.rows]
            low, high = ([row[end] for row in curve.rows] for end in ("low", "high"))
            axes.fill_between(digits, low, high, color=colour, alpha=0.15, linewidth=0)
            marked_line(axes, points(curve.rows, "digits", "exact_match"), curve.trained, colour, marker)
            named.append((curve.label, {"color": colour, "marker": marker}))
        longest = max(row["digits"] for curve in curves for row in curve.rows)
        lengths = {curve.trained for curve in curves}
        for trained in lengths:
            shade_training(axes, trained, longest)
        _mark_ends(axes, curves, longest)
        axes.set(xlabel=DIGITS, ylabel="exact match")
        length_axis(axes, longest, lengths)
        percent_axis(axes)
        legend_below(figure, key(*named), columns=2 if max(len(label) for label, _ in named) < 40 else 1)
        told = {curve.label: dict(points(curve.rows, "digits", "exact_match")) for curve in curves}
        scores = {label: {int(x): y for x, y in found.items()} for label, found in told.items()}
        said = title or reached(scores, {curve.label: curve.trained for curve in curves})
        return finish(figure, path, said, {curve.label: curve.aids for curve in curves if curve.aids}, letters=82)


def _mark_ends(axes: Axes, curves: Sequence[Curve], longest: int) -> None:
    """Where lines end before the axis does, the reason; once for lines that end together."""
    ends: dict[tuple[float, str], float] = {}
    for curve in curves:
        if curve.ends and (drawn := points(curve.rows, "digits", "exact_match")) and drawn[-1][0] < longest:
            x, y = drawn[-1]
            ends[x, curve.ends] = max(y, ends.get((x, curve.ends), 0.0))
    for (x, why), y in ends.items():
        below = y > 0.9
        axes.annotate(
            f"{x:g} digits:\n{why}",
            (x, y),
            xytext=(5, -6 if below else 6),
            textcoords="offset points",
            va="top" if below else "bottom",
            color=QUIET,
            fontsize=8,
        )
