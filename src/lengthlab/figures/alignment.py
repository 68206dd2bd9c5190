"""How much of the attention falls on the digit's own place, by length."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from lengthlab.figures.style import COLOURS, DIGITS, MARKERS, QUIET, SHADE, length_axis, save, style


@dataclass(frozen=True)
class Course:
    """The alignment rows of one run, by length, with its label and the longest training length."""

    label: str
    rows: Sequence[dict[str, Any]]
    trained: int


def alignment_figure(courses: Sequence[Course], path: Path, title: str) -> list[Path]:
    """Score and exact match by length; for one run, also where its heads look instead. Returns the files."""
    with style():
        single = len(courses) == 1
        figure, grid = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained", sharex=True)
        left, right = grid
        if single:
            _score(left, courses[0])
            _instead(right, courses[0])
        else:
            _many(left, courses, "score", "attention on the own place")
            _many(right, courses, "exact_match", "exact match")
            _legend_below(left)
        longest = max(row["digits"] for course in courses for row in course.rows)
        for axes in grid:
            for trained in {course.trained for course in courses}:
                axes.axvspan(0.5, trained + 0.5, color=SHADE, zorder=0)
            axes.set(ylim=(0, 1), xlabel=f"{DIGITS}; grey: seen in training")
            length_axis(axes, longest, {course.trained for course in courses})
            axes.yaxis.set_major_formatter(PercentFormatter(1))
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        return save(figure, path)


def _line(axes: Axes, rows: Sequence[dict[str, Any]], key: str, index: int, label: str, **options: Any) -> None:
    found = [row for row in rows if row[key] is not None]
    axes.plot(
        [row["digits"] for row in found],
        [row[key] for row in found],
        color=COLOURS[index % len(COLOURS)],
        marker=MARKERS[index % len(MARKERS)],
        label=label,
        **options,
    )


def _score(axes: Axes, course: Course) -> None:
    digits = [row["digits"] for row in course.rows]
    axes.fill_between(
        digits,
        [row["low"] for row in course.rows],
        [row["high"] for row in course.rows],
        color=COLOURS[1],
        alpha=0.12,
        linewidth=0,
    )
    _line(axes, course.rows, "exact_match", 1, "exact match (band: 95%)")
    _line(axes, course.rows, "score", 0, "attention on the own place")
    _line(axes, course.rows, "score_of_wrong", 3, "attention at wrong digits", linestyle=":")
    axes.plot(digits, [row["uniform"] for row in course.rows], color=QUIET, linestyle="--", label="even attention")
    _legend_below(axes)
    axes.set_title("Attention on the right place, and right answers")


def _instead(axes: Axes, course: Course) -> None:
    """The attention of the same heads, in layers that sum to 1."""
    middle = len(course.rows[0]["profile"]) // 2
    parts = {
        "own place": [row["profile"][middle] for row in course.rows],
        "1-3 places away": [sum(row["profile"]) - row["profile"][middle] for row in course.rows],
        "farther places": [row["farther"] for row in course.rows],
        "answer and symbols": [row["elsewhere"] for row in course.rows],
    }
    colours = (COLOURS[0], COLOURS[5], COLOURS[4], "#BBBBBB")
    digits = [row["digits"] for row in course.rows]
    axes.stackplot(digits, list(parts.values()), labels=list(parts), colors=colours, alpha=0.85, linewidth=0, zorder=2)
    axes.axvline(course.trained + 0.5, color="black", linestyle=":", linewidth=1.2, zorder=3)
    _legend_below(axes)
    axes.set_title("Where these heads look (dotted: end of training range)")


def _legend_below(axes: Axes) -> None:
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize=8, columnspacing=1.5)


def _many(axes: Axes, courses: Sequence[Course], key: str, title: str) -> None:
    for index, course in enumerate(courses):
        _line(axes, course.rows, key, index, course.label)
    axes.set_title(title[0].upper() + title[1:])
