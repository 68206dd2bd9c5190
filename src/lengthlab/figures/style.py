"""One quiet style for all figures: few lines, direct labels, colours that the colour-blind can tell apart."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito 2008
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
SHADE = "#EFEFEF"
QUIET = "#666666"  # notes and thin helper lines
WIDTH = 5.4  # inches; shrunk to a column of 3.3 inches, the text is still 6 points high
DIGITS = "digits of each operand"  # what most figures have along their lower edge
FORMATS = ("png", "svg", "pdf")
_formats: ContextVar[tuple[str, ...]] = ContextVar("formats", default=FORMATS)

_SETTINGS: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "text.parse_math": False,  # labels are plain text, whatever characters they contain
    "pdf.fonttype": 42,
    "svg.hashsalt": "lengthlab",
    "savefig.dpi": 200,
}
# The same system has the same colour in every figure; other labels take what is left, in order.
_FAMILIAR = {"FIRE": 0, "RoPE": 1, "NoPE": 2, "KerpleLog": 3}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the house style; settings elsewhere are left alone."""
    with plt.rc_context(_SETTINGS):
        yield


@contextmanager
def only(*formats: str) -> Iterator[None]:
    """Save figures in these formats only: a page needs one of the three, and each takes its time."""
    token = _formats.set(formats)
    try:
        yield
    finally:
        _formats.reset(token)


def looks(labels: Sequence[str]) -> dict[str, tuple[str, str]]:
    """A colour and a marker for each label.

    >>> looks(["NoPE", "other"])
    {'NoPE': ('#009E73', 'D'), 'other': ('#0072B2', 'o')}
    """
    taken = {label: _FAMILIAR[label] for label in labels if label in _FAMILIAR}
    free = [index for index in range(len(COLOURS)) if index not in taken.values()] or list(range(len(COLOURS)))
    others = [label for label in dict.fromkeys(labels) if label not in taken]
    taken |= {label: free[index % len(free)] for index, label in enumerate(others)}
    return {label: (COLOURS[taken[label]], MARKERS[taken[label]]) for label in labels}


def ink(colour: str) -> str:
    """A darker shade of a colour, for text on white.

    >>> ink("#E69F00")
    '#8a5f00'
    """
    return "#" + "".join(f"{int(int(colour[start : start + 2], 16) * 0.6):02x}" for start in (1, 3, 5))


def save(figure: Figure, path: Path) -> list[Path]:
    """Save as path.png, path.svg and path.pdf; the same data gives the same bytes. Returns the files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    undated: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    files = []
    if layout := figure.get_layout_engine():  # found once, without drawing, and kept for all formats
        layout.execute(figure)
        figure.set_layout_engine(None)
    extent = figure.get_tightbbox().padded(0.1)
    name = path.stem if path.suffix in (".png", ".svg", ".pdf") else path.name
    for suffix in _formats.get():
        files.append(path.with_name(f"{name}.{suffix}"))
        figure.savefig(files[-1], bbox_inches=extent, metadata=undated.get(suffix))
    plt.close(figure)
    return files


STEPS = tuple(step * 10**power for power in range(6) for step in (1, 2, 5))
NEAR = 0.45  # of a step; two ticks nearer than that would touch


def length_axis(axes: Axes, longest: int, trained: Collection[int] = (), most: int = 8) -> None:
    """Digit lengths from 1 to the longest; `trained` are training lengths, `most` is how many ticks there is room for.

    Panels that share an axis share its ticks: the last call counts.
    """
    axes.set_xlim(0.5, longest + 0.5)
    ticks = round_lengths(longest, trained, most)
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])


def round_lengths(longest: int, trained: Collection[int] = (), most: int = 8) -> list[int]:
    """Multiples of a round step up to `longest`, which is one of the ticks, as are the training lengths.

    A multiple that would stand too near to one of those gives way.

    >>> round_lengths(100, [10]), round_lengths(15, [6]), round_lengths(31, [10], most=5)
    ([10, 20, 40, 60, 80, 100], [2, 4, 6, 8, 10, 12, 15], [10, 20, 31])
    >>> round_lengths(3, [3]), round_lengths(1)
    ([1, 2, 3], [1])
    """
    step = next(step for step in STEPS if longest / step <= most)
    kept: list[int] = []
    for tick in (*sorted(trained, reverse=True), *range(step, longest, step)):
        if longest - tick >= 0.7 * step and all(abs(tick - other) >= NEAR * step for other in kept):
            kept.append(tick)
    return sorted([*kept, longest])
