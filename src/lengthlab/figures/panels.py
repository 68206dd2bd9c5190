"""What the figures share: panels, the shaded training range, axes of lengths and percentages, lines over seeds."""

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator, PercentFormatter

from lengthlab.figures.data import Look, Points, Setting, longest_trained, median_points
from lengthlab.figures.ledger import Aids, print_ledger
from lengthlab.figures.style import COLOURS, QUIET, SHADE, WIDTH, ink, save

THIN: Look = {"linewidth": 0.8, "alpha": 0.5}
BOLD: Look = {"linewidth": 2.2}
DASHED: Look = {"linewidth": 1.5, "linestyle": (0, (4, 1.5))}
DOTTED: Look = {"linewidth": 1.5, "linestyle": (0, (1, 1.5))}


def panels(count: int, columns: int = 2, height: float = 1.75, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure of house width with `count` panels, row by row; a single row is higher. Shared axes by default."""
    columns = min(columns, count)
    rows = -(-count // columns)
    size = (WIDTH, 3.1 if rows == 1 and height == 1.75 else 0.6 + height * rows)
    look: dict[str, Any] = {"sharex": True, "sharey": True, "figsize": size, "layout": "constrained"} | options
    figure, grid = plt.subplots(rows, columns, squeeze=False, **look)
    axes: list[Axes] = list(grid.flat)
    for spare in axes[count:]:
        spare.set_visible(False)
        axes[axes.index(spare) - columns].xaxis.set_tick_params(labelbottom=True)
    return figure, axes[:count]


def above_and_below(figure: Figure, heights: tuple[float, float]) -> tuple[SubFigure, SubFigure]:
    """Two parts of a figure, one above the other, each with a layout of its own."""
    grid = figure.add_gridspec(2, 1, height_ratios=heights)
    return figure.add_subfigure(grid[0]), figure.add_subfigure(grid[1])


def finish(figure: Figure, path: Path, title: str, aids: Aids | None = None, letters: int = 62) -> list[Path]:
    """Set the title over the whole figure in lines of so many letters, what the systems are given under it; save."""
    if title:
        lines = textwrap.wrap(title, letters)
        figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=11)
    print_ledger(figure, aids or {})
    return save(figure, path)


def aids_by_label(settings: Sequence[Setting]) -> Aids:
    """What each setting is given, for `finish`."""
    return {setting.label: setting.aids for setting in settings if setting.aids}


def nothing_to_draw(path: Path, title: str, why: str = "no finished runs yet") -> list[Path]:
    """A figure that says why it is empty."""
    figure, (axes,) = panels(1, height=1.2)
    axes.set_axis_off()
    axes.text(0.5, 0.5, why, ha="center", va="center", color=QUIET, transform=axes.transAxes)
    return finish(figure, path, title)


def empty_panel(axes: Axes, why: str = "no finished runs") -> None:
    axes.text(0.5, 0.5, why, ha="center", va="center", color=QUIET, fontsize=9, transform=axes.transAxes)


def wrapped(label: str, width: int = 20) -> str:
    return "\n".join(textwrap.wrap(label, width)) or label


def panel_title(axes: Axes, text: str, count: int, columns: int = 2) -> None:
    """The title of one of `count` panels, on two lines where a neighbour is near."""
    width = 56 // min(columns, count)
    label, mark, number = text.rpartition(" (n = ")
    if len(text) > width and mark:
        text = f"{wrapped(label, width)}\n(n = {number}"
    axes.set_title(text, fontsize=10, pad=6)


def outer(axes: Sequence[Axes], xlabel: str, ylabel: str) -> None:
    """Label the horizontal axis under the lowest panels (of many, the middle one), the vertical one once for all."""
    if len(axes) == 1:
        axes[0].set(xlabel=xlabel, ylabel=ylabel)
        return
    columns = len({panel.get_position().x0 for panel in axes})
    lowest = axes[-columns:]
    for panel in lowest if columns < 4 else [lowest[columns // 2]]:  # side by side they would run into each other
        panel.set_xlabel(xlabel)
    axes[0].figure.supylabel(ylabel, fontsize=10, y=0.55)


def percent_axis(axes: Axes, small: bool = False) -> None:
    """Shares from 0% to 100%; few ticks in a small panel."""
    axes.set_ylim(-0.025, 1)  # seeds at 0% stand above the axis, not in it
    axes.set_yticks([0, 0.5, 1] if small else [0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))


def log_axis(axis: Any, places: int = 6) -> None:
    """A logarithmic axis whose ticks are plain numbers."""
    axis.set_major_locator(LogLocator(numticks=places))
    axis.set_major_formatter(FuncFormatter(plain_power))
    axis.set_minor_locator(NullLocator())


def plain_power(value: float, _: object = None) -> str:
    """A power of ten as a reader writes it.

    >>> [plain_power(value) for value in (0.01, 1.0, 1000.0, 1e-5)]
    ['0.01', '1', '1,000', '10⁻⁵']
    """
    if value <= 0:
        return f"{value:g}"
    if 1e-3 <= value < 1e6:
        return f"{value:,.10g}"
    mantissa, _, power = f"{value:.0e}".partition("e")
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if mantissa == "1" else f"{mantissa}·10{raised}"


def shade_training(axes: Axes, trained: int, longest: int | None = None) -> None:
    """Shade the training lengths; with `longest` (that of the axis) the shade says what it is."""
    axes.axvspan(0.5, trained + 0.5, color=SHADE, zorder=0, linewidth=0)
    if longest is None:
        return
    text = f"trained on 1-{trained} digits"
    if trained > 0.35 * longest:  # room for the label along the axis
        axes.annotate(text, (trained + 0.4, 0.04), ha="right", color=QUIET, fontsize=9)
    else:
        middle = (trained + 1) / 2
        axes.annotate(text, (middle, 0.5), ha="center", va="center", rotation=90, color=QUIET, fontsize=9)


def shade_label(settings: Sequence[Setting]) -> str:
    """What the shaded lengths are, for the legend; the longest range if settings differ."""
    return f"trained on 1-{longest_trained(settings)} digits"


def seed_lines(axes: Axes, curves: Sequence[Points], color: str, **bold: Any) -> None:
    """Every seed thin, their median bold."""
    for curve in curves:
        line(axes, curve, color, **THIN)
    line(axes, median_points(curves), color, zorder=3, **(BOLD | bold))


def variant_style(which: int) -> Look:
    """A colour and a dash for the first, second, ... variant: they differ in print without colour too."""
    dashes = ("-", (0, (3, 1)), (0, (1, 1)), (0, (5, 1, 1, 1)))
    return {"color": COLOURS[which % len(COLOURS)], "linestyle": dashes[which % len(dashes)]}


def line(axes: Axes, curve: Points, colour: str, **options: Any) -> None:
    if curve:
        x, y = zip(*curve, strict=True)
        look: Look = {"clip_on": False, "solid_capstyle": "round"} | options
        axes.plot(x, y, color=colour, **look)


def marked_line(axes: Axes, curve: Points, trained: int, colour: str, marker: str, **options: Any) -> None:
    """A line whose markers are hollow inside the training range and filled beyond it, as in the paper."""
    line(axes, curve, colour, marker=marker, zorder=3, **options)
    inside = [point for point in curve if point[0] <= trained]
    hollow = {"marker": marker, "linestyle": "none", "markerfacecolor": "white", "zorder": 4}
    line(axes, inside, colour, **hollow)


def key(*entries: tuple[str, Look], shade: str = "") -> list[Line2D | Patch]:
    """Handles of a legend: labels with the looks of their lines; `shade` names the grey band if there is one."""
    looks: list[tuple[str, Look]] = [(label, {"color": "#444444"} | look) for label, look in entries]
    lines = [Line2D([], [], label=label, **look) for label, look in looks]
    return [*lines, Patch(color=SHADE, label=shade)] if shade else [*lines]


def legend_below(figure: Figure | SubFigure, handles: Sequence[Line2D | Patch], columns: int = 4) -> None:
    figure.legend(
        handles=list(handles),
        loc="outside lower center",
        ncols=min(columns, len(handles)),
        fontsize=9,
        handlelength=2.2,
        columnspacing=1.4,
    )


def end_labels(axes: Axes, ends: Sequence[tuple[float, str, str]], x: float, room: float = 0.066) -> bool:
    """Labels (height, text, colour) right of the axes, moved apart where they would lie upon each other.

    `room` is the height of a line of text as a share of the axes; heights are on a scale from 0 to 1. If there is no
    room for all of them, nothing is drawn and the answer is False.
    """
    ordered = sorted(((height, wrapped(text), colour) for height, text, colour in ends), key=lambda end: end[0])
    sizes = [room * (text.count("\n") + 1.4) for _, text, _ in ordered]
    if sum(sizes) > 1.1:
        return False
    for (height, text, colour), middle in zip(
        ordered, spread([height for height, _, _ in ordered], sizes), strict=True
    ):
        axes.annotate(
            text,
            (x, height),
            xytext=(1.06, middle),
            textcoords="axes fraction",
            va="center",
            color=ink(colour),
            fontsize=9,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.7,
                "shrinkA": 1,
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
        )
    return True


def spread(middles: Sequence[float], sizes: Sequence[float], bottom: float = -0.1, top: float = 1.1) -> list[float]:
    """Ascending middles moved up, and from the top down again, so that boxes of these sizes do not overlap.

    >>> spread([0.0, 0.0, 0.9], [0.2, 0.2, 0.2])
    [0.0, 0.2, 0.9]
    """
    places, edge = [], bottom
    for middle, size in zip(middles, sizes, strict=True):
        places.append(max(middle, edge + size / 2))
        edge = places[-1] + size / 2
    edge = top
    for index in reversed(range(len(places))):
        places[index] = min(places[index], edge - sizes[index] / 2)
        edge = places[index] - sizes[index] / 2
    return [round(place, 6) for place in places]


def offsets(count: int, width: float = 0.5) -> Iterator[float]:
    """Even places around 0 for `count` points that share a place on the axis."""
    for index in range(count):
        yield 0.0 if count == 1 else width * (index / (count - 1) - 0.5)
