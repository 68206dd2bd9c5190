"""What heads look at as one answer is written: every layer and head as a small map, one of them opened large."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from lengthlab.figures.panels import above_and_below
from lengthlab.figures.style import COLOURS, QUIET, save, style

PAGE = 11.0  # inches: a sheet on its side
LARGE = 0.26  # inches, the largest cell of the map that is opened
LEAST = 0.5  # inches, the height of a small map


def attention_figure(table: dict[str, Any], path: Path, title: str) -> list[Path]:
    """Attention weights. Orange frames: the operands' own place of each digit.

    `table` holds keys (K), written (Q), wrong (Q), own (Q, K) and values (layers, heads, Q, K). The head with the
    highest values at the own places is opened.
    """
    note = "rows: tokens as they are written (red: wrong)   columns: tokens looked at   orange: the digit's own place"
    return _maps(table, path, title, note, {"cmap": "Blues", "vmin": 0, "vmax": 1})


def bias_figure(table: dict[str, Any], path: Path, title: str) -> list[Path]:
    """What the position encoding adds to the attention logits; nan is left blank. Same table."""
    strongest = float(np.nanmax(np.abs(table["values"]))) or 1.0
    note = "what positions add to the attention logits: red attracts, blue repels, white is 0"
    return _maps(table, path, title, note, {"cmap": "RdBu_r", "vmin": -strongest, "vmax": strongest})


def _maps(table: dict[str, Any], path: Path, title: str, note: str, look: dict[str, Any]) -> list[Path]:
    values = np.asarray(table["values"])
    at_own = np.where(table["own"], np.nan_to_num(values), 0).sum(axis=(2, 3))
    layer, head = np.unravel_index(int(np.argmax(at_own)), at_own.shape)
    opened = int(layer), int(head)
    layers, heads, queries, keys = values.shape
    cell = min(LARGE, (PAGE - 1) / keys)
    large = queries * cell + 0.5
    small = max(LEAST, (PAGE - 0.5) / max(heads, 2) * queries / keys) + 0.2
    with style():
        figure = plt.figure(figsize=(PAGE, large + layers * small + 0.9), layout="constrained")
        above, below = above_and_below(figure, (large, layers * small))
        axes = above.subplots()
        image = _map(axes, values[opened], look)
        _frame(axes, table["own"])
        _tokens(axes, table["keys"], table["written"], table["wrong"], 72 * cell * 0.62)
        axes.set_title(_name(opened, layers), fontsize=10, pad=4)
        above.colorbar(image, ax=axes, shrink=0.9, aspect=14, pad=0.01).ax.tick_params(labelsize=8)
        grid = below.subplots(layers, heads, squeeze=False)
        for (layer, head), panel in np.ndenumerate(grid):
            _map(panel, values[layer, head], look)
            _bare(panel, framed=(layer, head) == opened)
            panel.set_title(_name((layer, head), layers), fontsize=8 if heads <= 8 else 5, pad=2)
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        figure.supxlabel(note, x=0.01, ha="left", fontsize=8, color=QUIET)
        return save(figure, path)


def _name(head: tuple[int, int], layers: int) -> str:
    return f"layer {head[0] + 1}, head {head[1] + 1}" if layers > 1 else f"head {head[1] + 1}"


def _map(axes: Axes, values: NDArray[Any], look: dict[str, Any]) -> AxesImage:
    return axes.imshow(values, aspect="equal", interpolation="nearest", **look)


def _bare(axes: Axes, framed: bool) -> None:
    """No ticks; a frame, strong around the map that is opened."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(visible=True, color="black" if framed else "#CCCCCC", linewidth=1.5 if framed else 0.5)


def _frame(axes: Axes, own: NDArray[np.bool_]) -> None:
    """A frame around every run of marked cells of a row."""
    for row, marked in enumerate(np.asarray(own)):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], marked.astype(int), [0]])))
        for start, stop in edges.reshape(-1, 2):
            corner = (start - 0.5, row - 0.5)
            axes.add_patch(Rectangle(corner, stop - start, 1, fill=False, edgecolor=COLOURS[1], linewidth=0.6))


def _tokens(axes: Axes, keys: Sequence[str], written: Sequence[str], wrong: Sequence[bool], points: float) -> None:
    size = min(9.0, points)
    axes.set_xticks(range(len(keys)), keys, fontsize=size)
    axes.set_yticks(range(len(written)), written, fontsize=size)
    for label, bad in zip(axes.get_yticklabels(), wrong, strict=True):
        label.set_color("#D00000" if bad else "black")
        label.set_fontweight("bold" if bad else "normal")
    axes.tick_params(length=0, pad=1)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
