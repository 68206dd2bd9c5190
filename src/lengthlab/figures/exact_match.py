"""Exact match by digit length over seeds: medians, every seed, or the best of several; the training range shaded."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure

from lengthlab.figures.data import (
    Setting,
    best_seed,
    by_length,
    count,
    counts,
    curves_of,
    in_panels,
    longest_trained,
    median_points,
    tested_lengths,
)
from lengthlab.figures.message import medians, variants
from lengthlab.figures.panels import (
    BOLD,
    DASHED,
    DOTTED,
    THIN,
    above_and_below,
    aids_by_label,
    empty_panel,
    end_labels,
    finish,
    key,
    legend_below,
    line,
    marked_line,
    nothing_to_draw,
    outer,
    panel_title,
    panels,
    percent_axis,
    seed_lines,
    shade_label,
    shade_training,
    variant_style,
)
from lengthlab.figures.style import DIGITS, WIDTH, length_axis, looks, style

EXACT_MATCH = "exact match"


def exact_match_over_seeds(settings: Sequence[Setting], path: Path, title: str = "") -> list[Path]:
    """The medians of all settings in one panel, and under it one for each: every seed thin, the best one dashed."""
    lengths = tested_lengths(settings)
    with style():
        if not lengths:
            return nothing_to_draw(path, title)
        colours = looks([setting.panel or setting.label for setting in settings])
        if len(settings) == 1:
            figure, small = panels(1)
            below, columns = figure, 1
        else:
            columns = _columns(len(settings))
            rows = -(-len(settings) // columns)
            figure = plt.figure(figsize=(WIDTH, 3.6 + 1.5 * rows), layout="constrained")
            above, below = above_and_below(figure, (2.9, 0.7 + 1.5 * rows))
            _medians(above.subplots(), settings, colours, max(lengths))
            small = _small_panels(below, len(settings), columns)
        for panel, setting in zip(small, settings, strict=True):
            colour, _ = colours[setting.panel or setting.label]
            curves = curves_of(setting)
            shade_training(panel, setting.trained)
            seed_lines(panel, curves, colour)
            if (best := best_seed(setting)) and len(curves) > 1:
                line(panel, by_length(best), colour, zorder=4, **DASHED)
            panel_title(panel, f"{setting.label} ({count(len(curves))})", len(settings), columns)
            length_axis(panel, max(lengths), [setting.trained], most=max(3, 8 // columns))
            percent_axis(panel, small=len(settings) > 1)
            if not curves:
                empty_panel(panel)
        outer(small, DIGITS if columns < 3 else "digits", EXACT_MATCH)
        entries = (("one seed", THIN), ("median", BOLD), ("best seed", DASHED))
        legend_below(below, key(*entries, shade=shade_label(settings)))
        return finish(figure, path, title or medians(settings), aids_by_label(settings))


def _columns(count: int) -> int:
    """How many small panels stand side by side: rows as even as possible, at most four wide.

    >>> [_columns(count) for count in (2, 3, 4, 5, 6, 9)]
    [2, 3, 4, 3, 3, 3]
    """
    return -(-count // -(-count // 4))


def _small_panels(figure: SubFigure, count: int, columns: int) -> list[Axes]:
    grid = figure.subplots(-(-count // columns), columns, squeeze=False, sharey=True)
    axes: list[Axes] = list(grid.flat)
    for spare in axes[count:]:
        spare.set_visible(False)
    return axes[:count]


def _medians(axes: Axes, settings: Sequence[Setting], colours: dict[str, tuple[str, str]], longest: int) -> None:
    """The median of every setting, named where its line ends."""
    ends, trained = [], {setting.trained for setting in settings}
    for setting in settings:
        colour, marker = colours[setting.panel or setting.label]
        if curve := median_points(curves_of(setting)):
            marked_line(axes, curve, setting.trained, colour, marker, linewidth=1.6)
            ends.append((curve[-1][1], setting.label, colour, marker))
    for limit in trained:
        shade_training(axes, limit)
    length_axis(axes, longest, trained)
    percent_axis(axes)
    axes.set(ylabel=EXACT_MATCH)
    axes.set_title("median over seeds", fontsize=10, pad=6)
    if not end_labels(axes, [end[:3] for end in ends], longest):
        named = [(label, {"color": colour, "marker": marker}) for _, label, colour, marker in ends]
        axes.legend(handles=key(*named), fontsize=8, ncols=2)


def best_of_seeds(settings: Sequence[Setting], path: Path, title: str = "") -> list[Path]:
    """The best seed of each setting with markers, and beside it, thin, the median over all seeds."""
    drawn = [setting for setting in settings if best_seed(setting)]
    lengths = tested_lengths(drawn)
    with style():
        if not lengths:
            return nothing_to_draw(path, title)
        figure, (axes,) = panels(1, height=3.2)
        looked = looks([setting.label for setting in drawn])
        ends, named = [], []
        for setting in drawn:
            colour, marker = looked[setting.label]
            curves = curves_of(setting)
            best = best_seed(setting)
            assert best is not None
            line(axes, median_points(curves), colour, linewidth=1.0, linestyle=(0, (1, 1.2)))
            marked_line(axes, by_length(best), setting.trained, colour, marker, linewidth=1.5)
            ends.append((by_length(best)[-1][1], setting.label, colour))
            named.append((setting.label, {"color": colour, "marker": marker, "linewidth": 1.5}))
        for trained in {setting.trained for setting in drawn}:
            shade_training(axes, trained)
        length_axis(axes, max(lengths), {setting.trained for setting in drawn})
        percent_axis(axes)
        axes.set(xlabel=DIGITS, ylabel=EXACT_MATCH)
        seeds = counts([len(setting.seeds) for setting in drawn])
        entries = [
            (f"best seed ({seeds})", {"linewidth": 1.5, "marker": "o"}),
            ("median over seeds", {"linewidth": 1.0, "linestyle": (0, (1, 1.2))}),
            ("inside training lengths", {"marker": "o", "markerfacecolor": "white", "linestyle": "none"}),
        ]
        labelled = end_labels(axes, ends, max(lengths))
        legend_below(figure, key(*([] if labelled else named), *entries, shade=shade_label(drawn)), columns=2)
        return finish(figure, path, title or medians(drawn), aids_by_label(drawn))


def settings_grid(settings: Sequence[Setting], path: Path, title: str = "") -> list[Path]:
    """A panel for each encoding, its variants (with and without something) in two colours.

    Every seed is thin, the median bold, the best seed dotted.
    """
    lengths, settings = tested_lengths(settings), in_panels(settings)
    with style():
        if not lengths:
            return nothing_to_draw(path, title)
        grouped = list(dict.fromkeys(setting.panel for setting in settings))
        names = list(dict.fromkeys(setting.variant for setting in settings))
        figure, axes = panels(len(grouped))
        for panel, group in zip(axes, grouped, strict=True):
            numbers = []
            for setting in (setting for setting in settings if setting.panel == group):
                which = names.index(setting.variant)
                curves = curves_of(setting)
                seed_lines(panel, curves, **variant_style(which))
                if (best := best_seed(setting)) and len(curves) > 1:
                    line(panel, by_length(best), variant_style(which)["color"], zorder=4, **DOTTED)
                shade_training(panel, setting.trained)
                if setting.trained < longest_trained(settings):  # its own range ends within the shade
                    panel.axvline(setting.trained + 0.5, linewidth=1, alpha=0.7, **variant_style(which))
                numbers.append(len(curves))
            panel_title(panel, f"{group} ({counts(numbers)})".strip(), len(grouped))
            length_axis(panel, max(lengths), [longest_trained(settings)], most=5)
            percent_axis(panel)
            if not any(numbers):
                empty_panel(panel)
        outer(axes, DIGITS, EXACT_MATCH)
        entries = [
            (f"{variant}{_shorter(settings, variant)}, median", BOLD | variant_style(which))
            for which, variant in enumerate(names)
        ]
        legend_below(
            figure,
            key(*entries, ("one seed", THIN), ("best seed", DOTTED), shade=shade_label(settings)),
            columns=2 if len(names) > 1 else 3,
        )
        return finish(figure, path, title or variants(settings))


def _shorter(settings: Sequence[Setting], variant: str) -> str:
    """Says so if a variant was trained on shorter sums than the others; a line marks its range."""
    own = max(setting.trained for setting in settings if setting.variant == variant)
    return "" if own == longest_trained(settings) else f" (1-{own})"
