"""What happens during training: exact match at several lengths, and the loss with next-token accuracy."""

from collections.abc import Sequence
from pathlib import Path

from lengthlab.figures import message
from lengthlab.figures.data import Points, Setting, count, counts, in_panels, points
from lengthlab.figures.panels import (
    BOLD,
    THIN,
    empty_panel,
    finish,
    key,
    legend_below,
    log_axis,
    nothing_to_draw,
    outer,
    panels,
    percent_axis,
    seed_lines,
    variant_style,
)
from lengthlab.figures.style import SHADE, looks, style

WINDOW = 5  # logged points in a running mean
FLOOR = 1e-6  # losses below it are drawn at it


def evolution(settings: Sequence[Setting], path: Path, title: str = "") -> list[Path]:
    """Exact match through training: a row for each setting, a column for each length, every seed thin, median bold."""
    lengths = sorted({row["digits"] for setting in settings for seed in setting.seeds for row in seed.evolution})
    with style():
        if not lengths:
            return nothing_to_draw(path, title)
        figure, axes = panels(len(settings) * len(lengths), columns=len(lengths), height=1.15)
        colours = looks([setting.panel or setting.label for setting in settings])
        for row, setting in enumerate(settings):
            for column, length in enumerate(lengths):
                panel = axes[row * len(lengths) + column]
                curves = []
                for seed in setting.seeds:
                    rows = [found for found in seed.evolution if found["digits"] == length]
                    if curve := points(rows, "step", "exact_match"):
                        curves.append(curve)
                seed_lines(panel, curves, colours[setting.panel or setting.label][0], linewidth=1.8)
                percent_axis(panel, small=True)
                panel.xaxis.set_major_formatter(_thousands)
                panel.locator_params(axis="x", nbins=3)
                panel.set_xlim(left=0)
                if length <= setting.trained:
                    panel.set_facecolor(SHADE)
                    panel.grid(color="#FFFFFF")
                if row == 0:
                    panel.set_title(f"{length} digits", fontsize=10, pad=6)
                if column == 0:
                    panel.set_ylabel(f"{setting.label}\n({count(len(curves))})", fontsize=9)
                if not curves:
                    empty_panel(panel, "no runs")
        outer(axes, "training step", "")
        legend_below(figure, key(("exact match of one seed", THIN), ("median", BOLD), shade="training length"))
        beyond = [length for length in lengths if length > min(setting.trained for setting in settings)]
        return finish(figure, path, title or message.in_the_end(settings, (beyond or lengths)[0]))


def _thousands(value: float, _: object = None) -> str:
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def loss_curves(settings: Sequence[Setting], path: Path, title: str = "") -> list[Path]:
    """Training loss and next-token accuracy over the steps, both axes of the loss logarithmic; a row for each panel."""
    with style():
        if not any(seed.training for setting in settings for seed in setting.seeds):
            return nothing_to_draw(path, title)
        settings = in_panels(settings)
        rows = list(dict.fromkeys(setting.panel for setting in settings))
        variants = list(dict.fromkeys(setting.variant for setting in settings))
        figure, axes = panels(2 * len(rows), height=1.5 if len(rows) > 1 else 2.4, sharey=False)
        for row, group in enumerate(rows):
            losses, accuracies = axes[2 * row], axes[2 * row + 1]
            numbers = []
            for setting in (setting for setting in settings if setting.panel == group):
                look = variant_style(variants.index(setting.variant))
                seeds = [seed for seed in setting.seeds if seed.training]
                numbers.append(len(seeds))
                for panel, column in ((losses, "loss"), (accuracies, "accuracy")):
                    curves = [smooth(points(seed.training, "step", column)) for seed in seeds]
                    if column == "loss":
                        curves = [[(x, max(y, FLOOR)) for x, y in curve] for curve in curves]
                    seed_lines(panel, [curve for curve in curves if curve], clip_on=True, **look)
            heading = f"{group}: loss" if group else "loss"
            losses.set_title(f"{heading} ({counts(numbers)})", fontsize=10, pad=6)
            accuracies.set_title("next-token accuracy", fontsize=10, pad=6)
            if any(numbers):
                losses.set_xscale("log")
                losses.set_yscale("log")
                log_axis(losses.xaxis, 5)
                log_axis(losses.yaxis, 5)
            else:
                empty_panel(losses)
            percent_axis(accuracies)
        outer(axes, "training step", "")
        named = [
            (f"{variant}, median" if variant else "median", BOLD | variant_style(which))
            for which, variant in enumerate(variants)
        ]
        one_seed = f"one seed (running mean of {WINDOW} points)"
        legend_below(figure, key(*named, (one_seed, THIN)), columns=2)
        return finish(figure, path, title or message.losses(settings))


def smooth(curve: Points, window: int = WINDOW) -> Points:
    """A running mean over `window` neighbouring points, fewer at the ends, of at most about 120 points.

    >>> smooth([(1, 0.0), (2, 3.0), (3, 6.0)], 3)
    [(1, 1.5), (2, 3.0), (3, 4.5)]
    """
    reach = window // 2
    means = []
    for index, (x, _) in enumerate(curve):
        near = [y for _, y in curve[max(0, index - reach) : index + reach + 1]]
        means.append((x, sum(near) / len(near)))
    return _thin_out(means)


def _thin_out(curve: Points, most: int = 120) -> Points:
    """Points evenly spaced in the logarithm of x: what a log axis can show."""
    if len(curve) <= most:
        return curve
    first, last = max(curve[0][0], 1e-9), curve[-1][0]
    kept, bound = [], 0.0
    ratio = (last / first) ** (1 / most)
    for x, y in curve:
        if x >= bound or x == last:
            kept.append((x, y))
            bound = max(x, 1e-9) * ratio
    return kept
