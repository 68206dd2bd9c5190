"""How many times its training length a model reaches."""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from lengthlab.figures.data import Seed, Setting, by_length, counts, curves_of, tested_lengths
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
)
from lengthlab.figures.style import QUIET, looks, style


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
                tested = [seed for seed in setting.seeds if by_length(seed)]
                factors = sorted(reached(seed, threshold) / setting.trained for seed in tested)
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
            line(place, medians, colour, **BOLD)
            line(place, bests, colour, **DASHED)
            place.axhline(1, color="#444444", linewidth=0.8, linestyle=":")
            seeds = counts([len(curves_of(setting)) for setting in settings if setting.panel == group])
            panel_title(place, f"{group} ({seeds})".strip(), len(groups))
            place.set_xticks(range(len(trained)), [f"1-{limit}" for limit in trained])
            place.set_xlim(-0.5, len(trained) - 0.5)
        for place in axes:
            place.set_ylim(0, highest * 1.06)
            place.yaxis.set_major_formatter(lambda value, _: f"{value:g}×")
        outer(axes, "digits trained on", f"length reached with ≥ {threshold:.0%}\nexact match / training length")
        entries = (
            ("one seed", {"marker": "o", "linestyle": "none", "markersize": 4, "alpha": 0.6}),
            ("median", BOLD),
            ("best seed", DASHED),
            ("longest test", {"linewidth": 0.9, "color": QUIET}),
        )
        legend_below(figure, key(*entries))
        return finish(figure, path, title)


def reached(seed: Seed, threshold: float) -> int:
    """The longest tested length up to which exact match never falls below `threshold`; 0 if the first does."""
    longest = 0
    for digits, score in by_length(seed):
        if score < threshold:
            break
        longest = int(digits)
    return longest
