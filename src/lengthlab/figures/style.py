"""One quiet style for all figures: few lines, direct labels, colours that the colour-blind can tell apart."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito 2008
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
SHADE = "#EFEFEF"

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
    "svg.hashsalt": "lengthlab",
    "savefig.dpi": 200,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the house style; settings elsewhere are left alone."""
    with plt.rc_context(_SETTINGS):
        yield


def save(figure: Figure, path: Path, formats: tuple[str, ...] = ("png", "svg")) -> list[Path]:
    """Save as path.png, path.svg, ...; the same data gives the same bytes. Returns the files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    files = []
    name = path.stem if path.suffix in (".png", ".svg", ".pdf") else path.name
    for suffix in formats:
        files.append(path.with_name(f"{name}.{suffix}"))
        figure.savefig(files[-1], bbox_inches="tight", metadata={"Date": None} if suffix == "svg" else None)
    plt.close(figure)
    return files


def arrange(figure: Figure) -> Figure:
    """Work out a constrained layout once, not again for every file that is saved."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure
