"""Exact match by digit length: a line for each run, the training range shaded."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt
from matplotlib.ticker import MaxNLocator, PercentFormatter

from lengthlab.figures.style import COLOURS, MARKERS, SHADE, save, style


@dataclass(frozen=True)
class Curve:
    """The evaluation rows of one run, with its label and the longest length it was trained on."""

    label: str
    rows: Sequence[dict[str, Any]]
    trained: int


def exact_match_by_length(curves: Sequence[Curve], path: Path, title: str) -> list[Path]:
    """Draw `curves`; bands are 95% Wilson intervals. Returns the files (PNG and SVG)."""
    with style():
        figure, axes = plt.subplots(figsize=(7, 3.8))
        for curve, colour, marker in zip(
            curves, _cycle(COLOURS, len(curves)), _cycle(MARKERS, len(curves)), strict=True
        ):
            digits = [row["digits"] for row in curve.rows]
            axes.fill_between(
                digits,
                [row["low"] for row in curve.rows],
                [row["high"] for row in curve.rows],
                color=colour,
                alpha=0.15,
                linewidth=0,
            )
            inside = [row for row in curve.rows if row["digits"] <= curve.trained]
            axes.plot(
                digits,
                [row["exact_match"] for row in curve.rows],
                color=colour,
                marker=marker,
                label=curve.label,
                clip_on=False,
                zorder=3,
            )
            axes.plot(
                [row["digits"] for row in inside],
                [row["exact_match"] for row in inside],
                color=colour,
                marker=marker,
                markerfacecolor="white",
                linestyle="none",
                clip_on=False,
                zorder=4,
            )
        longest = max(row["digits"] for curve in curves for row in curve.rows)
        for trained in {curve.trained for curve in curves}:
            axes.axvspan(0.5, trained + 0.5, color=SHADE, zorder=0)
            text = f"trained on 1-{trained} digits"
            if trained > 0.35 * longest:  # room for the label along the axis
                axes.annotate(text, (trained + 0.4, 0.04), ha="right", color="#666666", fontsize=9)
            else:
                middle = (trained + 1) / 2
                axes.annotate(text, (middle, 0.5), ha="center", va="center", rotation=90, color="#666666", fontsize=9)
        axes.set(xlim=(0.5, longest + 0.5), ylim=(0, 1), xlabel="digits of each operand", ylabel="exact match")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.set_title(title)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return save(figure, path)


def _cycle(values: Sequence[str], count: int) -> list[str]:
    return [values[index % len(values)] for index in range(count)]
