"""Wrong answers of every run: at which places their wrong digits stand, and how many there are in an answer."""

from collections.abc import Sequence
from pathlib import Path

from lengthlab.figures import message
from lengthlab.figures.data import Seed, Setting
from lengthlab.figures.errors import shares_of, singles
from lengthlab.figures.panels import empty_panel, finish, nothing_to_draw, outer, panels
from lengthlab.figures.style import looks, style

MOST = 10  # wrong digits shown; more are counted with these


def error_histograms(settings: Sequence[Setting], path: Path, title: str = "") -> list[Path]:
    """Two columns: for each run of the last setting that has errors, its wrong digits by place and by their number.

    All of it at the longest length that was analysed place by place.
    """
    found = [(setting, seed) for setting in settings for seed in setting.seeds if _length(seed)]
    with style():
        if not found:
            return nothing_to_draw(path, title, "no wrong answers analysed yet")
        last = found[-1][0]
        runs = [seed for setting, seed in found if setting is last]
        length = max(map(_length, runs))
        colour, _ = looks([setting.label for setting in settings])[last.label]
        figure, axes = panels(2 * len(runs), height=0.9, sharex=False, sharey=False)
        for row, seed in enumerate(runs):
            by_place, by_count = axes[2 * row], axes[2 * row + 1]
            wrong = shares_of(seed, "places", length)
            heights = {int(place): share for place, share in wrong.items()}
            by_place.bar(list(heights), list(heights.values()), width=1.0, color=colour)
            by_place.set_xlim(-0.5, length + 0.5)
            counted = [0.0] * MOST
            for number, share in shares_of(seed, "counts", length).items():
                counted[min(int(number), MOST) - 1] += share
            by_count.bar(range(1, MOST + 1), counted, width=0.8, color=colour)
            by_count.set_xlim(0.4, MOST + 0.6)
            by_count.set_ylim(0, 1)
            for panel, shown in ((by_place, heights), (by_count, counted)):
                panel.tick_params(labelsize=7)
                if not any(shown.values() if isinstance(shown, dict) else shown):
                    empty_panel(panel, "nothing wrong")
            by_place.set_ylabel(f"seed {seed.seed}", fontsize=8)
            if row == 0:
                by_place.set_title(f"{last.label}, {length} digits: wrong digits by place", fontsize=9, pad=5)
                by_count.set_title("wrong answers by wrong digits", fontsize=9, pad=5)
        outer(axes, "", "")
        axes[-2].set_xlabel("place (0: units)", fontsize=9)
        axes[-1].set_xlabel(f"wrong digits ({MOST}: or more)", fontsize=9)
        return finish(figure, path, title or message.single_digits(singles([last], length), length))


def _length(seed: Seed) -> int:
    """The longest length whose places were analysed; 0 if there is none."""
    return max((row["digits"] for row in seed.errors if row["measure"] == "places"), default=0)
