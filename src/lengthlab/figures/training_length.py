"""What models trained on other lengths do: their best and median curves, and box plots at the longest tested length."""

from collections.abc import Sequence
from pathlib import Path

from lengthlab.figures import message
from lengthlab.figures.data import (
    Setting,
    best_seed,
    by_length,
    counts,
    curves_of,
    in_panels,
    median_points,
    scores_at,
    tested_lengths,
)
from lengthlab.figures.panels import (
    DASHED,
    finish,
    key,
    legend_below,
    line,
    nothing_to_draw,
    outer,
    panel_title,
    panels,
    percent_axis,
)
from lengthlab.figures.seeds import BOX_KEY, box
from lengthlab.figures.style import COLOURS, DIGITS, length_axis, style


def best_by_training_length(settings: Sequence[Setting], path: Path, title: str = "") -> list[Path]:
    """A panel for each model: for each training length the best seed and, dashed, the median; a mark where it ends."""
    lengths, settings = tested_lengths(settings), in_panels(settings, last=True)
    with style():
        if not lengths:
            return nothing_to_draw(path, title)
        groups = list(dict.fromkeys(setting.panel for setting in settings))
        trained = sorted({setting.trained for setting in settings})
        figure, axes = panels(len(groups))
        for panel, group in zip(axes, groups, strict=True):
            numbers = []
            for setting in (setting for setting in settings if setting.panel == group):
                colour = COLOURS[trained.index(setting.trained) % len(COLOURS)]
                curves = curves_of(setting)
                numbers.append(len(curves))
                panel.axvline(setting.trained + 0.5, color=colour, linewidth=0.8, linestyle=":")
                line(panel, median_points(curves), colour, **DASHED)
                if best := best_seed(setting):
                    line(panel, by_length(best), colour, linewidth=1.8, zorder=3)
            panel_title(panel, f"{group} ({counts(numbers)})".strip(), len(groups))
            length_axis(panel, max(lengths), trained, most=5)
            percent_axis(panel)
        outer(axes, DIGITS, "exact match")
        named = [
            (f"trained on 1-{limit}", {"color": COLOURS[index % len(COLOURS)], "linewidth": 1.8})
            for index, limit in enumerate(trained)
        ]
        end = ("training ends", {"linewidth": 0.8, "linestyle": ":"})
        legend_below(figure, key(*named, ("best seed", {"linewidth": 1.8}), ("median", DASHED), end))
        return finish(figure, path, title or message.medians(settings))


def boxes_by_training_length(settings: Sequence[Setting], path: Path, title: str = "") -> list[Path]:
    """A panel for each encoding, a box over seeds for each training length and size, at the longest tested length."""
    lengths, settings = tested_lengths(settings), in_panels(settings)
    with style():
        if not lengths:
            return nothing_to_draw(path, title)
        longest = max(lengths)
        groups = list(dict.fromkeys(setting.panel for setting in settings))
        sizes = list(dict.fromkeys(_size(setting) for setting in settings))
        trained = sorted({setting.trained for setting in settings})
        figure, axes = panels(len(groups))
        for panel, group in zip(axes, groups, strict=True):
            own = [setting for setting in settings if setting.panel == group]
            for setting in own:
                which = sizes.index(_size(setting))
                column = trained.index(setting.trained) * (len(sizes) + 1) + which
                box(panel, column, scores_at(setting, longest), COLOURS[which % len(COLOURS)])
            middles = [index * (len(sizes) + 1) + (len(sizes) - 1) / 2 for index in range(len(trained))]
            panel.set_xticks(middles, [f"1-{limit}" for limit in trained])
            panel.set_xlim(-1, len(trained) * (len(sizes) + 1) - 1)
            numbers = counts([len(scores_at(setting, longest)) for setting in own])
            panel_title(panel, f"{group} ({numbers})".strip(), len(groups))
            percent_axis(panel)
        outer(axes, "digits trained on", f"exact match at {longest} digits")
        look = {"marker": "s", "linestyle": "none", "markersize": 8}
        coloured = [(size, COLOURS[index % len(COLOURS)]) for index, size in enumerate(sizes)]
        named = [(size, {"color": colour, **look}) for size, colour in coloured] if len(sizes) > 1 else []
        legend_below(figure, key(*named, *BOX_KEY))
        return finish(figure, path, title or message.medians(settings, longest))


def _size(setting: Setting) -> str:
    """The part of a label between encoding and training length, such as 25M."""
    return setting.variant.rpartition(", ")[0]
