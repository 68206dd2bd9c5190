"""How far seeds lie apart and how far they reach: box plots, data orders within weight seeds, factors reached."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from matplotlib.axes import Axes

from lengthlab.figures import message
from lengthlab.figures.data import (
    Look,
    Setting,
    counts,
    curves_of,
    in_panels,
    longest_trained,
    pooled,
    score_at,
    scores_at,
    tested_lengths,
)
from lengthlab.figures.panels import (
    BOLD,
    DASHED,
    finish,
    key,
    legend_below,
    line,
    nothing_to_draw,
    offsets,
    outer,
    panel_title,
    panels,
    percent_axis,
    wrapped,
)
from lengthlab.figures.style import COLOURS, MARKERS, QUIET, looks, style
from lengthlab.statistics import generalization
from lengthlab.statistics.lengths import lengths_beyond, most_spread_length

BOX_KEY: tuple[tuple[str, Look], ...] = (
    ("one seed", {"marker": "o", "linestyle": "none", "markersize": 4}),
    ("median", BOLD),
    ("box: middle half of the seeds", {"marker": "s", "linestyle": "none", "alpha": 0.25, "markersize": 9}),
)


def box_over_settings(
    settings: Sequence[Setting], path: Path, title: str = "", lengths: Sequence[int] = ()
) -> list[Path]:
    """Box plots over seeds (quartiles, whiskers to the extremes), every seed a point; a panel for each length.

    By default at the longest tested length, as in the paper, and nearer to the training length.
    """
    with style():
        if not tested_lengths(settings):
            return nothing_to_draw(path, title)
        nearer = lengths_beyond(pooled(settings), longest_trained(settings), (1.5,))
        lengths = lengths or sorted({*nearer, max(tested_lengths(settings))})
        figure, axes = panels(len(lengths), columns=1, height=2.0 if len(lengths) > 1 else 2.4)
        for panel, length in zip(axes, lengths, strict=True):
            for column, setting in enumerate(settings):
                box(panel, column, scores_at(setting, length), COLOURS[0])
            panel.set_xlim(-0.6, len(settings) - 0.4)
            percent_axis(panel)
            panel.set_title(_at_length(settings, length), fontsize=10, pad=8)
        for panel in axes:
            labels = [_with_count(setting, lengths[-1], len(settings)) for setting in settings]
            panel.set_xticks(range(len(settings)), labels, fontsize=9 if len(settings) < 7 else 8)
        outer(axes, "", "exact match")
        legend_below(figure, key(*BOX_KEY))
        return finish(figure, path, title or message.medians(settings))


def box(axes: Axes, column: int, scores: Sequence[float], colour: str) -> None:
    """The seeds of one setting at one point of the horizontal axis."""
    if not scores:
        axes.annotate("no runs", (column, 0.5), ha="center", color=QUIET, fontsize=8, rotation=90, va="center")
        return
    if len(scores) > 1:
        axes.boxplot(
            [list(scores)],
            positions=[column],
            widths=0.55,
            whis=(0, 100),
            showcaps=False,
            patch_artist=True,
            boxprops={"facecolor": colour, "alpha": 0.25, "edgecolor": "none"},
            whiskerprops={"color": colour, "linewidth": 1},
            medianprops={"color": colour, "linewidth": 2.2, "clip_on": False},
            manage_ticks=False,
        )
    for shift, score in zip(offsets(len(scores), 0.36), scores, strict=True):
        axes.plot(column + shift, score, "o", color=colour, markersize=4, clip_on=False, zorder=5)


def _with_count(setting: Setting, length: int, settings: int) -> str:
    """The label under a box: what it is, and of how many seeds."""
    width = max(6, 56 // max(settings, 1))
    return f"{wrapped(setting.label, width)}\nn = {len(scores_at(setting, length))}"


def _at_length(settings: Sequence[Setting], length: int) -> str:
    trained = {setting.trained for setting in settings}
    if len(trained) > 1:
        return f"{length} digits"
    (limit,) = trained
    return f"{length} digits: {length / limit:.3g} times the training length" if length > limit else f"{length} digits"


def order_grid(settings: Sequence[Setting], path: Path, title: str = "", length: int | None = None) -> list[Path]:
    """Settings are weight seeds, their seeds data orders: for each weight seed the points of all orders."""
    with style():
        if not tested_lengths(settings):
            return nothing_to_draw(path, title)
        chosen = "" if length else "\n(where runs differ most)"
        length = length or most_spread_length(pooled(settings), longest_trained(settings))
        figure, (axes,) = panels(1, height=2.6)
        orders = sorted({seed.seed for setting in settings for seed in setting.seeds})
        for column, setting in enumerate(settings):
            if scores := scores_at(setting, length):
                middle = median(scores)
                axes.plot([column - 0.36, column + 0.36], [middle] * 2, color="#444444", linewidth=1.6, clip_on=False)
            for seed in setting.seeds:
                if (score := score_at(seed, length)) is None:
                    continue
                which = orders.index(seed.seed)
                x = column + list(offsets(len(orders), 0.56))[which]
                look: Look = {"color": COLOURS[which % len(COLOURS)], "marker": MARKERS[which % len(MARKERS)]}
                axes.plot(x, score, linestyle="none", markersize=6.5, clip_on=False, zorder=3, **look)
            if column:
                axes.axvline(column - 0.5, color="#E3E3E3", linewidth=0.8, zorder=0)
        numbers = [len(scores_at(setting, length)) for setting in settings]
        labels = [
            f"{wrapped(setting.label, 20)}\n(n = {number} orders)"
            for setting, number in zip(settings, numbers, strict=True)
        ]
        axes.set_xticks(range(len(settings)), labels)
        axes.tick_params(axis="x", length=0, pad=8)
        axes.set(xlim=(-0.5, len(settings) - 0.5), ylabel=f"exact match at {length} digits{chosen}")
        percent_axis(axes)
        shown = [
            (f"data order {order}", {"color": COLOURS[i % 7], "marker": MARKERS[i % 7], "linestyle": "none"})
            for i, order in enumerate(orders)
        ]
        legend_below(figure, key(*shown, ("median over orders", {"linewidth": 1.6})), columns=3)
        return finish(figure, path, title or message.orders(settings, length))


def factor_by_training_length(
    settings: Sequence[Setting], path: Path, title: str = "", threshold: float = 0.9
) -> list[Path]:
    """How many times its training length a model reaches: every seed a point, the median as a line, the best dashed.

    A model reaches a length if it has at least `threshold` exact match at all tested lengths up to there.
    """
    with style():
        if not tested_lengths(settings):
            return nothing_to_draw(path, title)
        settings = in_panels(settings, last=True)
        groups = list(dict.fromkeys(setting.panel for setting in settings))
        figure, axes = panels(len(groups))
        colours = looks(groups)
        trained = sorted({setting.trained for setting in settings})
        highest, reached, ceilings = 1.0, {}, []
        for panel, group in zip(axes, groups, strict=True):
            medians, bests = [], []
            colour, _ = colours[group]
            for setting in sorted((s for s in settings if s.panel == group), key=lambda s: s.trained):
                curves = curves_of(setting)
                factors = sorted(
                    generalization({int(x): y for x, y in curve}, setting.trained, threshold).factor for curve in curves
                )
                if not factors:
                    continue
                column = trained.index(setting.trained)
                for shift, factor in zip(offsets(len(factors), 0.3), factors, strict=True):
                    panel.plot(column + shift, factor, "o", color=colour, markersize=4, alpha=0.6, clip_on=False)
                medians.append((column, median(factors)))
                reached[setting.label] = median(factors)
                bests.append((column, factors[-1]))
                ceilings.append(max(tested_lengths([setting])) / setting.trained)
                panel.plot([column - 0.35, column + 0.35], [ceilings[-1]] * 2, color=QUIET, linewidth=0.9)
                highest = max(highest, factors[-1])
            line(panel, medians, colour, **BOLD)
            line(panel, bests, colour, **DASHED)
            panel.axhline(1, color="#444444", linewidth=0.8, linestyle=":")
            seeds = counts([len(curves_of(setting)) for setting in settings if setting.panel == group])
            panel_title(panel, f"{group} ({seeds})".strip(), len(groups))
            panel.set_xticks(range(len(trained)), [f"1-{limit}" for limit in trained])
            panel.set_xlim(-0.5, len(trained) - 0.5)
        for panel in axes:
            panel.set_ylim(0, highest * 1.2)  # longer tests than anybody passed may lie outside
            panel.yaxis.set_major_formatter(lambda value, _: f"{value:g}×")
        outer(axes, "digits trained on", f"length reached with ≥ {threshold:.0%}\nexact match / training length")
        entries = (
            ("one seed", {"marker": "o", "linestyle": "none", "markersize": 4, "alpha": 0.6}),
            ("median", BOLD),
            ("best seed", DASHED),
            *([("longest test", {"linewidth": 0.9, "color": QUIET})] if min(ceilings) < highest * 1.2 else []),
        )
        legend_below(figure, key(*entries))
        return finish(figure, path, title or message.factors(reached))
