"""How far seeds lie apart: box plots over settings, data orders within weight seeds, in against out of distribution."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median, pvariance

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from lengthlab.figures.data import (
    Seed,
    Setting,
    best_seed,
    by_length,
    count,
    counts,
    curves_of,
    score_at,
    tested_lengths,
)
from lengthlab.figures.panels import (
    empty_panel,
    finish,
    key,
    legend_below,
    log_axis,
    nothing_to_draw,
    offsets,
    outer,
    panels,
    percent_axis,
    wrapped,
)
from lengthlab.figures.style import COLOURS, MARKERS, QUIET, looks, style


def lengths_beyond(settings: Sequence[Setting], factors: Sequence[float] = (1.5, 2.0)) -> list[int]:
    """The tested lengths nearest to these multiples of the training length, fixed before anything is seen.

    A length at which no run scores at all is left out, if another one remains.
    """
    trained = max(setting.trained for setting in settings)
    tested = tested_lengths(settings)
    chosen = sorted({min(tested, key=lambda length: abs(length - factor * trained)) for factor in factors})
    alive = [length for length in chosen if any(any(_scores(setting, length)) for setting in settings)]
    return alive or chosen[:1]


def most_telling_length(settings: Sequence[Setting]) -> int:
    """The tested length beyond training at which the runs lie furthest apart."""
    trained = max(setting.trained for setting in settings)
    tested = tested_lengths(settings)

    def variance(length: int) -> float:
        scores = [score for setting in settings for score in _scores(setting, length)]
        return pvariance(scores) if scores else 0.0

    return max([length for length in tested if length > trained] or tested, key=variance)


def box_over_settings(
    settings: Sequence[Setting], path: Path, title: str = "", lengths: Sequence[int] = ()
) -> list[Path]:
    """Box plots over seeds (quartiles, whiskers to the extremes), every seed a point; a panel for each length."""
    with style():
        if not tested_lengths(settings):
            return nothing_to_draw(path, title)
        lengths = lengths or lengths_beyond(settings)
        figure, axes = panels(len(lengths), columns=1, height=2.0 if len(lengths) > 1 else 2.4)
        colours = looks([setting.panel or setting.label for setting in settings])
        one_colour = len(colours) > 4  # a scale of one thing, such as weight decay
        for place, length in zip(axes, lengths, strict=True):
            for column, setting in enumerate(settings):
                colour = COLOURS[0] if one_colour else colours[setting.panel or setting.label][0]
                _box(place, column, _scores(setting, length), colour)
            place.set_xlim(-0.6, len(settings) - 0.4)
            percent_axis(place)
            place.set_title(_at_length(settings, length), fontsize=10, pad=8)
        for place in axes:
            labels = [_with_count(setting, lengths[-1], len(settings)) for setting in settings]
            place.set_xticks(range(len(settings)), labels, fontsize=9 if len(settings) < 7 else 8)
        outer(axes, "", "exact match")
        entries = (
            ("one seed", {"marker": "o", "linestyle": "none", "markersize": 4}),
            ("median", {"linewidth": 2.2}),
            ("box: middle half of the seeds", {"marker": "s", "linestyle": "none", "alpha": 0.25, "markersize": 9}),
        )
        legend_below(figure, key(*entries, shade=""))
        return finish(figure, path, title)


def _box(axes: Axes, column: int, scores: Sequence[float], colour: str) -> None:
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


def _scores(setting: Setting, length: int) -> list[float]:
    return [score for seed in setting.seeds if (score := score_at(seed, length)) is not None]


def _with_count(setting: Setting, length: int, settings: int) -> str:
    """The label under a box: what it is, and of how many seeds."""
    width = max(6, 64 // max(settings, 1))
    return f"{wrapped(setting.label, width)}\nn = {len(_scores(setting, length))}"


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
        length = length or most_telling_length(settings)
        figure, (axes,) = panels(1, height=2.6)
        orders = sorted({seed.seed for setting in settings for seed in setting.seeds})
        for column, setting in enumerate(settings):
            if scores := _scores(setting, length):
                middle = median(scores)
                axes.plot([column - 0.36, column + 0.36], [middle] * 2, color="#444444", linewidth=1.6, clip_on=False)
            for seed in setting.seeds:
                if (score := score_at(seed, length)) is None:
                    continue
                which = orders.index(seed.seed)
                x = column + list(offsets(len(orders), 0.56))[which]
                look = {"color": COLOURS[which % len(COLOURS)], "marker": MARKERS[which % len(MARKERS)]}
                axes.plot(x, score, linestyle="none", markersize=6.5, clip_on=False, zorder=3, **look)
            if column:
                axes.axvline(column - 0.5, color="#E3E3E3", linewidth=0.8, zorder=0)
        labels = [f"{wrapped(setting.label, 20)}\n(n = {len(_scores(setting, length))} orders)" for setting in settings]
        axes.set_xticks(range(len(settings)), labels)
        axes.tick_params(axis="x", length=0, pad=8)
        axes.set(xlim=(-0.5, len(settings) - 0.5), ylabel=f"exact match at {length} digits")
        percent_axis(axes)
        shown = [
            (f"data order {order}", {"color": COLOURS[i % 7], "marker": MARKERS[i % 7], "linestyle": "none"})
            for i, order in enumerate(orders)
        ]
        legend_below(figure, key(*shown, ("median over orders", {"linewidth": 1.6}), shade=""), columns=3)
        return finish(figure, path, title)


def factor_by_training_length(
    settings: Sequence[Setting], path: Path, title: str = "", threshold: float = 0.9
) -> list[Path]:
    """How many times its training length a model reaches: every seed a point, the median as a line, the best dashed.

    A model reaches a length if it has at least `threshold` exact match at all tested lengths up to there.
    """
    with style():
        if not tested_lengths(settings):
            return nothing_to_draw(path, title)
        groups = list(dict.fromkeys(setting.panel for setting in settings))
        figure, axes = panels(len(groups))
        colours = looks(groups)
        trained = sorted({setting.trained for setting in settings})
        highest = 1.0
        for place, group in zip(axes, groups, strict=True):
            medians, bests = [], []
            colour, _ = colours[group]
            for setting in sorted((s for s in settings if s.panel == group), key=lambda s: s.trained):
                factors = sorted(
                    reached(seed, threshold) / setting.trained for seed in setting.seeds if by_length(seed)
                )
                if not factors:
                    continue
                column = trained.index(setting.trained)
                for shift, factor in zip(offsets(len(factors), 0.3), factors, strict=True):
                    place.plot(column + shift, factor, "o", color=colour, markersize=4, alpha=0.6, clip_on=False)
                medians.append((column, median(factors)))
                bests.append((column, factors[-1]))
                ceiling = max(tested_lengths([setting])) / setting.trained
                place.plot([column - 0.35, column + 0.35], [ceiling] * 2, color=QUIET, linewidth=0.9)
                highest = max(highest, ceiling)
            for line, look in ((medians, {"linewidth": 2.2}), (bests, {"linewidth": 1.5, "linestyle": (0, (4, 1.5))})):
                place.plot([x for x, _ in line], [y for _, y in line], color=colour, clip_on=False, **look)
            place.axhline(1, color="#444444", linewidth=0.8, linestyle=":")
            seeds = counts([len(curves_of(setting)) for setting in settings if setting.panel == group])
            place.set_title(f"{group} ({seeds})" if group else f"({seeds})", fontsize=10, pad=6)
            place.set_xticks(range(len(trained)), [f"1-{limit}" for limit in trained])
            place.set_xlim(-0.5, len(trained) - 0.5)
        for place in axes:
            place.set_ylim(0, highest * 1.06)
            place.yaxis.set_major_formatter(lambda value, _: f"{value:g}×")
        outer(axes, "digits trained on", f"length reached with ≥ {threshold:.0%}\nexact match / training length")
        entries = (
            ("one seed", {"marker": "o", "linestyle": "none", "markersize": 4, "alpha": 0.6}),
            ("median", {"linewidth": 2.2}),
            ("best seed", {"linewidth": 1.5, "linestyle": (0, (4, 1.5))}),
            ("longest test", {"linewidth": 0.9, "color": QUIET}),
        )
        legend_below(figure, key(*entries, shade=""))
        return finish(figure, path, title)


def reached(seed: Seed, threshold: float) -> int:
    """The longest tested length up to which exact match never falls below `threshold`; 0 if the first does."""
    longest = 0
    for digits, score in by_length(seed):
        if score < threshold:
            break
        longest = int(digits)
    return longest


def inside_against_beyond(
    settings: Sequence[Setting], path: Path, title: str = "", length: int | None = None
) -> list[Path]:
    """Every run a point: final training loss and in-distribution exact match against exact match beyond training."""
    with style():
        if not tested_lengths(settings):
            return nothing_to_draw(path, title)
        length = length or most_telling_length(settings)
        figure, axes = panels(2, columns=2, height=2.5, sharex=False)
        looked = looks([setting.label for setting in settings])
        for setting in settings:
            colour, marker = looked[setting.label]
            for seed in setting.seeds:
                beyond = score_at(seed, length)
                inside = [score for digits, score in by_length(seed) if digits <= setting.trained]
                dot = {"color": colour, "marker": marker, "linestyle": "none", "alpha": 0.8, "clip_on": False}
                if beyond is not None and seed.facts.get("final_loss"):
                    axes[0].plot(seed.facts["final_loss"], beyond, **dot)
                if beyond is not None and inside:
                    axes[1].plot(sum(inside) / len(inside), beyond, **dot)
        if axes[0].lines:
            axes[0].set_xscale("log")
            log_axis(axes[0].xaxis, 4)
        else:
            empty_panel(axes[0], "no losses recorded")
        axes[0].set(xlabel="final training loss", ylabel=f"exact match at {length} digits")
        axes[1].set(xlabel="exact match, training lengths")
        axes[1].xaxis.set_major_locator(MaxNLocator(3))
        axes[1].xaxis.set_major_formatter(lambda share, _: f"{100 * share:.6g}%")
        for place in axes:
            percent_axis(place)
            place.grid(axis="x", visible=True)
        shown = [
            (
                f"{setting.label} ({count(len(_scores(setting, length)))})",
                {"color": looked[setting.label][0], "marker": looked[setting.label][1], "linestyle": "none"},
            )
            for setting in settings
            if best_seed(setting)
        ]
        legend_below(figure, key(*shown, shade=""), columns=2)
        return finish(figure, path, title)
