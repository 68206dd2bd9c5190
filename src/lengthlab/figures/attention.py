"""Heat maps: what every head looks at while an answer is written, and the bias that positions add."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from lengthlab.figures.style import COLOURS, save, style

CELL = 0.105  # inches
WIDEST = 20.0  # inches, for all panels of a row


def attention_figure(table: dict[str, Any], path: Path, title: str) -> list[Path]:
    """Attention weights, a panel for each layer and head. Orange frames: the operands' own place of each digit.

    `table` holds keys (K), written (Q), wrong (Q), own (Q, K) and values (layers, heads, Q, K).
    """
    note = "rows: tokens as they are written (red: wrong)   columns: tokens looked at   orange: the digit's own place"
    return _panels(table, path, title, note, "Blues", diverging=False)


def bias_figure(table: dict[str, Any], path: Path, title: str) -> list[Path]:
    """What the position encoding adds to the attention logits; nan is left blank. Same table."""
    note = "what positions add to the attention logits: red attracts, blue repels, white is 0"
    return _panels(table, path, title, note, "RdBu_r", diverging=True)


def _panels(table: dict[str, Any], path: Path, title: str, note: str, colours: str, diverging: bool) -> list[Path]:
    values: NDArray[np.float32] = np.asarray(table["values"])
    layers, heads, queries, keys = values.shape
    width, height = keys * CELL + 0.25, queries * CELL + 0.4
    across = max(1, min(heads, int(WIDEST / width)))
    while heads % across:  # rows of equal length, so that layers begin on the left
        across -= 1
    down = layers * heads // across
    largest = float(np.nanmax(np.abs(values))) or 1.0
    with style():
        figure, grid = plt.subplots(
            down, across, figsize=(width * across, height * down + 0.8), squeeze=False, layout="constrained"
        )
        image = None
        for index, axes in enumerate(grid.flat):
            layer, head = divmod(index, heads)
            image = axes.imshow(
                values[layer, head],
                cmap=colours,
                vmin=-largest if diverging else 0,
                vmax=largest if diverging else 1,
                aspect="equal",
                interpolation="nearest",
            )
            _frame(axes, table["own"])
            _tokens(axes, table["keys"], table["written"], table["wrong"])
            name = f"layer {layer + 1}, head {head + 1}" if layers > 1 or not diverging else f"head {head + 1}"
            axes.set_title(name, fontsize=8, pad=3)
        assert image is not None, "there is at least one head"
        figure.colorbar(image, ax=grid, shrink=min(1.0, 2.5 / (height * down)), aspect=12, pad=0.01)
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        figure.supxlabel(note, x=0.01, ha="left", fontsize=8, color="#666666")
        return save(figure, path)


def _frame(axes: Axes, own: NDArray[np.bool_]) -> None:
    """A frame around every run of marked cells of a row."""
    for row, marked in enumerate(np.asarray(own)):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], marked.astype(int), [0]])))
        for start, stop in edges.reshape(-1, 2):
            corner = (start - 0.5, row - 0.5)
            axes.add_patch(Rectangle(corner, stop - start, 1, fill=False, edgecolor=COLOURS[1], linewidth=0.6))


def _tokens(axes: Axes, keys: Sequence[str], written: Sequence[str], wrong: Sequence[bool]) -> None:
    axes.set_xticks(range(len(keys)), keys, fontsize=4.5)
    axes.set_yticks(range(len(written)), written, fontsize=4.5)
    for label, bad in zip(axes.get_yticklabels(), wrong, strict=True):
        label.set_color("#D00000" if bad else "black")
        label.set_fontweight("bold" if bad else "normal")
    axes.tick_params(length=0, pad=1)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
