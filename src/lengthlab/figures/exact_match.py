"""Exact match by digit length: a line for each run, each seed, or the best of several seeds; training range shaded."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib import pyplot as plt

from lengthlab.figures.data import (
    Row,
    Setting,
    best_seed,
    by_length,
    count,
    counts,
    curves_of,
    median_points,
    points,
    tested_lengths,
)
from lengthlab.figures.panels import (
    BOLD,
    DASHED,
    THIN,
    empty_panel,
    end_labels,
    finish,
    key,
    legend_below,
    length_axis,
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
from lengthlab.figures.style import COLOURS, MARKERS, looks, save, style

DIGITS = "digits of each operand"
EXACT_MATCH = "exact match"


@dataclass(frozen=True)
class Curve:
    """The evaluation rows of one run, with its label and the longest length it was trained on."""

    label: str
    rows: Sequence[Row]
    trained: int


def exact_match_by_length(curves: Sequence[Curve], path: Path, title: str) -> list[Path]:
    """Draw `curves`; bands are 95% Wilson intervals. Returns the files."""
    with style():
        figure, axes = plt.subplots(figsize=(7, 3.8))
        for place, curve in enumerate(curves):
            colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
            digits = [row["digits"] for row in curve.rows]
            low, high = ([row[end] for row in curve.rows] for end in ("low", "high"))
            axes.fill_between(digits, low, high, color=colour, alpha=0.15, linewidth=0)
            scores = points(curve.rows, "digits", "exact_match")
            marked_line(axes, scores, curve.trained, colour, marker, label=curve.label)
        longest = max(row["digits"] for curve in curves for row in curve.rows)
        for trained in {curve.trained for curve in curves}:
            shade_training(axes, trained, longest)
        axes.set(xlabel=DIGITS, ylabel=EXACT_MATCH)
        length_axis(axes, longest)
        percent_axis(axes)
        axes.set_title(title)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return save(figure, path)


def exact_match_over_seeds(settings: Sequence[Setting], path: Path, title: str = "") -> list[Path]:
    """A panel for each setting: every seed thin, their median bold, the best seed dashed."""
    lengths = tested_lengths(settings)
    with style():
        if not lengths:
            return nothing_to_draw(path, title)
        figure, axes = panels(len(settings))
        colours = looks([setting.panel or setting.label for setting in settings])
        for place, setting in zip(axes, settings, strict=True):
            colour, _ = colours[setting.panel or setting.label]
            curves = curves_of(setting)
            shade_training(place, setting.trained)
            seed_lines(place, curves, colour)
            if (best := best_seed(setting)) and len(curves) > 1:
                line(place, by_length(best), colour, zorder=4, **DASHED)
            panel_title(place, f"{setting.label} ({count(len(curves))})", len(settings))
            length_axis(place, max(lengths))
            percent_axis(place)
            if not curves:
                empty_panel(place)
        outer(axes, DIGITS, EXACT_MATCH)
        entries = (("one seed", THIN), ("median", BOLD), ("best seed", DASHED))
        legend_below(figure, key(*entries, shade=shade_label(settings)))
        return finish(figure, path, title)


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
        length_axis(axes, max(lengths))
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
        return finish(figure, path, title)


def settings_grid(settings: Sequence[Setting], path: Path, title: str = "") -> list[Path]:
    """A panel for each encoding, its variants (with and without something) in two colours, seeds thin, median bold."""
    lengths = tested_lengths(settings)
    with style():
        if not lengths:
            return nothing_to_draw(path, title)
        grouped = list(dict.fromkeys(setting.panel for setting in settings))
        variants = list(dict.fromkeys(setting.variant for setting in settings))
        longest_trained = max(setting.trained for setting in settings)
        figure, axes = panels(len(grouped))
        for place, panel in zip(axes, grouped, strict=True):
            numbers = []
            for setting in (setting for setting in settings if setting.panel == panel):
                which = variants.index(setting.variant)
                curves = curves_of(setting)
                seed_lines(place, curves, **variant_style(which))
                shade_training(place, setting.trained)
                if setting.trained < longest_trained:  # its own range ends within the shade
                    place.axvline(setting.trained + 0.5, linewidth=1, alpha=0.7, **variant_style(which))
                numbers.append(len(curves))
            panel_title(place, f"{panel} ({counts(numbers)})".strip(), len(grouped))
            length_axis(place, max(lengths))
            percent_axis(place)
            if not any(numbers):
                empty_panel(place)
        outer(axes, DIGITS, EXACT_MATCH)
        entries = [
            (f"{variant}{_shorter(settings, variant)}, median", BOLD | variant_style(which))
            for which, variant in enumerate(variants)
        ]
        legend_below(
            figure,
            key(*entries, ("one seed", THIN), shade=shade_label(settings)),
            columns=2 if len(variants) > 1 else 3,
        )
        return finish(figure, path, title)


def _shorter(settings: Sequence[Setting], variant: str) -> str:
    """Says so if a variant was trained on shorter sums than the others; a line marks its range."""
    own = max(setting.trained for setting in settings if setting.variant == variant)
    return "" if own == max(setting.trained for setting in settings) else f" (1-{own})"
