"""Whether what happens inside the training lengths tells what happens beyond them."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.ticker import MaxNLocator

from lengthlab.figures.data import (
    Look,
    Setting,
    best_seed,
    by_length,
    count,
    most_telling_length,
    score_at,
    scores_at,
    tested_lengths,
)
from lengthlab.figures.panels import (
    empty_panel,
    finish,
    key,
    legend_below,
    log_axis,
    nothing_to_draw,
    panels,
    percent_axis,
)
from lengthlab.figures.style import looks, style


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
                dot: Look = {"color": colour, "marker": marker, "linestyle": "none", "alpha": 0.8, "clip_on": False}
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
                f"{setting.label} ({count(len(scores_at(setting, length)))})",
                {"color": looked[setting.label][0], "marker": looked[setting.label][1], "linestyle": "none"},
            )
            for setting in settings
            if best_seed(setting)
        ]
        legend_below(figure, key(*shown), columns=2)
        return finish(figure, path, title)
