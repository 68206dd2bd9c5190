"""Exact match on other sums than uniform ones: carries through all places, a number and itself."""

from collections.abc import Sequence
from pathlib import Path

from lengthlab.analysis.names import SUMS
from lengthlab.figures import message
from lengthlab.figures.data import Setting, counts, on_sums
from lengthlab.figures.panels import (
    BOLD,
    THIN,
    empty_panel,
    finish,
    key,
    legend_below,
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
from lengthlab.figures.style import DIGITS, style


def kinds_of_sums(settings: Sequence[Setting], path: Path, title: str = "") -> list[Path]:
    """A panel for each setting, its kinds of test sums in three colours, seeds thin, median bold."""
    with style():
        if not any(on_sums(seed, kind) for setting in settings for seed in setting.seeds for kind in SUMS):
            return nothing_to_draw(path, title, "no other sums tested yet")
        figure, axes = panels(len(settings))
        for panel, setting in zip(axes, settings, strict=True):
            numbers = []
            for which, kind in enumerate(SUMS):
                curves = [course for seed in setting.seeds if (course := on_sums(seed, kind))]
                seed_lines(panel, curves, marker="o", markersize=3, **variant_style(which))
                numbers.append(len(curves))
            shade_training(panel, setting.trained)
            panel_title(panel, f"{setting.label} ({counts(numbers)})", len(settings))
            percent_axis(panel)
            if not any(numbers):
                empty_panel(panel)
        outer(axes, DIGITS, "exact match")
        named = [(f"{kind}, median", BOLD | variant_style(which)) for which, kind in enumerate(SUMS)]
        legend_below(figure, key(*named, ("one seed", THIN), shade=shade_label(settings)), columns=2)
        return finish(figure, path, title or message.kinds(settings, on_sums, SUMS))
