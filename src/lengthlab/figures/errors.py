"""What is wrong in wrong answers: carries, places, number of wrong digits, misalignment, ends.

Rows are those of errors.csv, whose measures and keys `analysis/names.py` explains.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from lengthlab.analysis.names import FIFTHS, MARKS, SAME_PLACES, SHIFTS, WRONG_DIGITS, shift_name
from lengthlab.figures import message
from lengthlab.figures.data import Look, Seed, Setting, TableRow, count, median_points
from lengthlab.figures.panels import empty_panel, finish, key, log_axis, nothing_to_draw, offsets, panels
from lengthlab.figures.style import QUIET, looks, style

SHIFT_NAMES = tuple(map(shift_name, SHIFTS))
SHORT = dict(zip(MARKS, ("ends early", "no end", "wrong hint", "wrong digit"), strict=True))
MOST, RAREST = 8, 1e-3  # wrong digits shown, and the smallest share
BASE: Look = {"color": QUIET, "linewidth": 1.2, "linestyle": (0, (2, 1.5))}

Shares = dict[str, float]


def error_panels(settings: Sequence[Setting], path: Path, title: str = "", length: int | None = None) -> list[Path]:
    """Five views of the wrong answers at one length; every seed a small point, the median of a setting large."""
    with style():
        tested = Counter(digits for setting in settings for seed in setting.seeds for digits in _lengths(seed))
        if not tested:
            return nothing_to_draw(path, title, "no wrong answers analysed yet")
        if length is None:
            rows = [row for setting in settings for seed in setting.seeds for row in seed.errors]
            whole = [row["digits"] for row in rows if _is_whole(row)]
            length = max(whole) if whole else max(tested, key=lambda digits: (tested[digits], digits))
        figure, axes = panels(6, height=1.95, sharex=False, sharey=False)
        drawn = [setting for setting in settings if any(length in _lengths(seed) for seed in setting.seeds)]
        looked = looks([setting.label for setting in drawn])
        for column, setting in enumerate(drawn):
            look: Look = dict(zip(("color", "marker"), looked[setting.label], strict=True))
            seeds = [seed for seed in setting.seeds if length in _lengths(seed)]

            def shares(measure: str, seeds: Sequence[Seed] = seeds) -> list[Shares]:
                return [shares_of(seed, measure, length) for seed in seeds]

            _carry(axes[0], column, shares("carry"), look)
            _profile(axes[1], FIFTHS, shares("fifths"), look)
            _counts(axes[2], shares("counts"), look)
            _profile(axes[3], SHIFT_NAMES, shares("shifts"), look)
            _marks(axes[4], column, len(drawn), shares("marks"), look)
        everyone = [seed for setting in drawn for seed in setting.seeds if length in _lengths(seed)]
        for axes_place, names, measure in ((axes[1], FIFTHS, "fifths base"), (axes[3], SHIFT_NAMES, "shifts base")):
            _base(axes_place, names, [shares_of(seed, measure, length) for seed in everyone])
        _label(axes)
        _key(axes[5], drawn, looked, length)
        return finish(figure, path, title or message.single_digits(singles(drawn, length), length))


def singles(settings: Sequence[Setting], length: int) -> dict[str, list[float]]:
    """The share of wrong answers with one wrong digit, of every seed, by setting."""
    found = {setting.label: [shares_of(seed, "counts", length) for seed in setting.seeds] for setting in settings}
    return {label: [shares["1"] for shares in seeds if "1" in shares] for label, seeds in found.items()}


def _is_whole(row: TableRow) -> bool:
    """Whether all measures were taken at the length of this row, and not only the number of wrong digits."""
    return row["measure"] == "marks" and row.get("value") is not None


def _lengths(seed: Seed) -> set[int]:
    return {row["digits"] for row in seed.errors if row.get("value") is not None}


def shares_of(seed: Seed, measure: str, length: int) -> Shares:
    """One measure of one seed, by key."""
    return {
        row["key"]: row["value"]
        for row in seed.errors
        if row["measure"] == measure and row["digits"] == length and row.get("value") is not None
    }


def _points(axes: Axes, x: float, values: Sequence[float], look: Look, width: float = 0.0) -> None:
    """Every seed small, their median large."""
    if values:
        places = [x + shift for shift in offsets(len(values), width)]
        axes.plot(places, values, linestyle="none", markersize=3, alpha=0.5, **look)
        axes.plot(x, median(values), linestyle="none", markersize=6.5, zorder=4, clip_on=False, **look)


def _carry(axes: Axes, column: int, seeds: Sequence[Shares], look: Look) -> None:
    _points(axes, column, [seed[WRONG_DIGITS] for seed in seeds if WRONG_DIGITS in seed], look, 0.4)
    if base := [seed[SAME_PLACES] for seed in seeds if SAME_PLACES in seed]:
        axes.plot([column - 0.35, column + 0.35], [median(base)] * 2, **BASE)


def _profile(axes: Axes, names: Sequence[str], seeds: Sequence[Shares], look: Look) -> None:
    """The median of a measure over ordered keys, with the seeds as small points."""
    found = [(x, seed[name]) for seed in seeds for x, name in enumerate(names) if name in seed]
    middles = median_points([[point] for point in found])
    axes.plot([x for x, _ in found], [y for _, y in found], linestyle="none", markersize=2.5, alpha=0.35, **look)
    axes.plot([x for x, _ in middles], [y for _, y in middles], linewidth=1.5, markersize=5, **look)


def _base(axes: Axes, names: Sequence[str], seeds: Sequence[Shares]) -> None:
    values = [(x, [seed[name] for seed in seeds if name in seed]) for x, name in enumerate(names)]
    shown = [(x, median(found)) for x, found in values if found]
    axes.plot([x for x, _ in shown], [y for _, y in shown], zorder=1, **BASE)


def _counts(axes: Axes, seeds: Sequence[Shares], look: Look) -> None:
    """Shares of wrong answers by number of wrong digits, with the exponential law of the same mean."""
    seeds = [seed for seed in seeds if seed]
    for wrong in range(1, MOST + 1):
        shares = [seed.get(str(wrong), 0.0) for seed in seeds]
        if shares and median(shares) >= RAREST:
            _points(axes, wrong, [share for share in shares if share >= RAREST], look)
    if seeds:
        ratio = median(exponential_ratio(seed) for seed in seeds)
        fit = {wrong: (1 - ratio) * ratio ** (wrong - 1) for wrong in range(1, MOST + 1)}
        shown = [wrong for wrong in fit if fit[wrong] >= RAREST]
        axes.plot(shown, [fit[wrong] for wrong in shown], color=look["color"], linewidth=1, alpha=0.8)


def exponential_ratio(shares: Shares) -> float:
    """The ratio of neighbouring shares in the exponential law with the same mean: P(k) = (1 - ratio) ratio**(k - 1).

    >>> exponential_ratio({"1": 0.75, "2": 0.25})  # mean 1.25
    0.19999999999999996
    """
    total = sum(shares.values())
    return 1 - total / sum(int(wrong) * share for wrong, share in shares.items()) if total else 0.0


def _marks(axes: Axes, column: int, settings: int, seeds: Sequence[Shares], look: Look) -> None:
    shift = list(offsets(settings, 0.6))[column]
    for row, name in enumerate(MARKS):
        values = [seed[name] for seed in seeds if name in seed]
        if values:
            heights = [row + shift] * len(values)
            axes.plot(values, heights, linestyle="none", markersize=3, alpha=0.5, clip_on=False, **look)
            axes.plot(median(values), row + shift, linestyle="none", markersize=6, zorder=4, clip_on=False, **look)


def _label(axes: Sequence[Axes]) -> None:
    """Titles, ticks and scales of the five panels."""
    carry, fifths, counts, shifts, marks = axes[:5]
    titles = (
        "a carry comes in",
        "part of the answer",
        "wrong digits in an answer",
        "digit of another place",
        "what is wrong",
    )
    for panel, text in zip(axes, titles, strict=False):
        panel.set_title(text, fontsize=10, pad=6)
        if not panel.lines:
            empty_panel(panel, "not analysed")
    for panel in (carry, fifths, shifts):
        panel.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        panel.set_ylim(bottom=0)
    carry.set_ylim(0, 1)
    carry.set_xticks([])
    fifths.set_xticks(range(5), ["units", "", "middle", "", "top"])
    counts.set_xticks(range(1, MOST + 1))
    if counts.lines:
        counts.set_yscale("log")
        log_axis(counts.yaxis, 4)
        counts.set_ylim(RAREST * 0.7, 1.3)
        counts.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.6g}%")
    for panel in (carry, fifths, shifts):
        panel.set_ylabel("share of wrong digits", fontsize=9)
    counts.set_ylabel("share of wrong answers", fontsize=9)
    counts.set_xlabel("number of wrong digits", fontsize=9)
    shifts.set_xticks(range(len(SHIFT_NAMES)), [name.lstrip("+") for name in SHIFT_NAMES])  # with it they touch
    shifts.set_xlabel("places too low or too high", fontsize=9)
    marks.set_yticks(range(len(MARKS)), list(SHORT.values()))
    marks.set_ylim(len(MARKS) - 0.5, -0.5)
    marks.set_xlim(0, 1)
    marks.set_xticks([0, 0.5, 1])
    marks.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    marks.set_xlabel("share of wrong answers", fontsize=9)
    marks.grid(axis="x", visible=True)
    marks.grid(axis="y", visible=False)


def _key(axes: Axes, settings: Sequence[Setting], looked: dict[str, tuple[str, str]], length: int) -> None:
    """The sixth panel says what the colours are, and how many answers stand behind them."""
    axes.set_axis_off()
    shown = []
    for setting in settings:
        seeds = [seed for seed in setting.seeds if length in _lengths(seed)]
        wrong = sum(next((row["wrong"] or 0 for row in seed.errors if row["digits"] == length), 0) for seed in seeds)
        colour, marker = looked[setting.label]
        look = {"color": colour, "marker": marker, "linestyle": "none", "markersize": 6.5}
        shown.append((f"{setting.label} ({count(len(seeds))},\n{wrong:,} wrong answers)", look))
    handles = key(
        *shown,
        ("one seed (large: median)", {"marker": "o", "linestyle": "none", "markersize": 3}),
        ("expected by chance", BASE),
        ("exponential fit", {"linewidth": 1}),
    )
    title = f"sums of {length} digits" if length else "all lengths together"
    position: Look = {"loc": "center left", "bbox_to_anchor": (-0.05, 0.5), "alignment": "left"}
    axes.legend(handles=handles, fontsize=8.5, title=title, title_fontsize=9, **position)
