"""What the wrong answers of one run, or of several averaged, have in common: the figure of `lengthlab analyse`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from lengthlab.figures.style import COLOURS, MARKERS, SHADE, save, style

GREY = "#666666"
Rows = Sequence[dict[str, Any]]


def errors_figure(summary: dict[str, Any], trained: int, path: Path, title: str) -> list[Path]:
    """Draw the summary of one run (whiskers: 95% intervals) or of several (whiskers: lowest and highest run).

    A black line across a bar is what to compare it with. Returns the files (PNG and SVG).
    """
    with style(), plt.rc_context({"font.size": 9, "axes.titlesize": 10, "axes.titlepad": 8}):
        figure, axes = plt.subplots(2, 3, figsize=(13, 7.2), layout="constrained")
        (first, where, carry), (shifts, counts, marks) = axes
        _sideways(first, summary["first"], "First mistake of a wrong answer", "share of wrong answers")
        _where(where, summary["places"], trained)
        _sideways(carry, summary["carry"], "Is a carry coming in?", "share with an incoming carry", colour=COLOURS[4])
        _shifts(shifts, summary["shifts"])
        _counts(counts, summary["counts"], summary["fit"])
        _sideways(marks, summary["marks"], "Anywhere in a wrong answer", "share of wrong answers", colour=COLOURS[3])
        spread = "lowest and highest run" if summary["runs"] > 1 else "95% intervals"
        figure.suptitle(title, x=0.01, ha="left", fontsize=12)
        figure.supxlabel(
            f"Thin lines: {spread}.  Black marks: what to compare with (random wrong digits; all digits; the fit).",
            x=0.01,
            ha="left",
            fontsize=9,
            color=GREY,
        )
        return save(figure, path)


def _whiskers(rows: Rows) -> list[list[float]]:
    return [
        [max(0.0, row["share"] - row["low"]) for row in rows],
        [max(0.0, row["high"] - row["share"]) for row in rows],
    ]


def _empty(axes: Axes, title: str) -> None:
    axes.set_title(title)
    axes.text(0.5, 0.5, "nothing to show", ha="center", va="center", color=GREY, transform=axes.transAxes)
    axes.set(xticks=[], yticks=[])


def _sideways(axes: Axes, rows: Rows, title: str, label: str, colour: str = COLOURS[0]) -> None:
    if not rows:
        _empty(axes, title)
        return
    places = range(len(rows))
    shares = [row["share"] for row in rows]
    axes.barh(places, shares, xerr=_whiskers(rows), color=colour, ecolor=GREY, height=0.6, alpha=0.85)
    for place, row in enumerate(rows):
        if row["base"] is not None:
            axes.plot([row["base"]] * 2, [place - 0.4, place + 0.4], color="black", linewidth=2)
    axes.set_yticks(places, [row["name"].replace(" at the ", "\nat the ") for row in rows])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", visible=True)
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set(xlabel=label, xlim=(0, None))
    axes.set_title(title)


def _where(axes: Axes, rows: Rows, trained: int) -> None:
    title = "Where: wrong digits by place"
    if not rows:
        _empty(axes, title)
        return
    for index, length in enumerate(sorted({row["digits"] for row in rows})):
        of_length = [row for row in rows if row["digits"] == length]
        places = [row["place"] for row in of_length]
        colour = COLOURS[index % len(COLOURS)]
        axes.fill_between(
            places,
            [row["low"] for row in of_length],
            [row["high"] for row in of_length],
            color=colour,
            alpha=0.15,
            linewidth=0,
        )
        axes.plot(
            places,
            [row["share"] for row in of_length],
            color=colour,
            marker=MARKERS[index % len(MARKERS)],
            label=f"{length} digits",
            clip_on=False,
        )
    longest = max(row["place"] for row in rows)
    axes.axvspan(-0.5, min(trained, longest) + 0.5, color=SHADE, zorder=0)  # with the place that a last carry fills
    axes.set(xlim=(-0.5, longest + 0.5), ylim=(0, None), xlabel="place (0: units); grey: places seen in training")
    axes.set_ylabel("share of digits wrong")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.legend(loc="best", fontsize=8)
    axes.set_title(title)


def _shifts(axes: Axes, rows: Rows) -> None:
    title = "Which place gives the wrong digit?"
    if not rows:
        _empty(axes, title)
        return
    places = range(len(rows))
    colours = [COLOURS[1] if row["name"] == "0" else COLOURS[2] for row in rows]
    axes.bar(places, [row["share"] for row in rows], yerr=_whiskers(rows), color=colours, ecolor=GREY, alpha=0.85)
    for place, row in enumerate(rows):
        axes.plot([place - 0.42, place + 0.42], [row["base"]] * 2, color="black", linewidth=2)
    axes.set_xticks(places, [f"{row['name']}\n(carry)" if row["name"] == "0" else row["name"] for row in rows])
    axes.set(xlabel="place read instead; 0: its own, wrong carry", ylabel="share of wrong digits", ylim=(0, None))
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.set_title(title)


def _counts(axes: Axes, rows: Rows, fit: dict[str, float] | None) -> None:
    title = "How many digits are wrong"
    if not rows or fit is None:
        _empty(axes, title)
        return
    numbers = [int(row["name"]) for row in rows]
    axes.bar(numbers, [row["share"] for row in rows], yerr=_whiskers(rows), color=COLOURS[5], ecolor=GREY)
    fitted = [row["base"] for row in rows]
    axes.plot(numbers, fitted, color="black", marker=".", label=f"exponential fit: x {fit['ratio']:.2f} each")
    least = min([share for row in rows for share in (row["share"], row["base"]) if share > 0])
    axes.set_yscale("log")
    axes.set(ylim=(least / 2, 1.2), xlabel="wrong digits in an answer", ylabel="share of answers with any")
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(loc="upper right", fontsize=8)
    axes.set_title(title)
