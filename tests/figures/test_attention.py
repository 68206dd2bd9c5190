"""Attention maps draw what is in their tables."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lengthlab.figures import attention


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are saved, kept open to be looked at."""
    figures: list[Figure] = []

    def keep(figure: Figure, path: Path) -> list[Path]:
        figures.append(figure)
        return [path]

    monkeypatch.setattr(attention, "save", keep)
    return figures


def test_every_head_has_a_map_and_the_one_that_looks_at_its_place_is_opened(
    drawn: list[Figure], tmp_path: Path
) -> None:
    values = np.random.default_rng(0).random((2, 2, 3, 5)).astype(np.float32)
    own = np.zeros((3, 5), dtype=bool)
    own[1, 1:3] = True
    values[1, 0, 1, 1:3] = 1.0
    table = {"keys": list("^1+2="), "written": list("3$."), "wrong": [False, True, True], "own": own, "values": values}
    attention.attention_figure(table, tmp_path / "attention", "title")
    large, *small = [axes for axes in drawn[0].axes if axes.images]
    heads = [f"layer {i}, head {j}" for i in (1, 2) for j in (1, 2)]
    assert [axes.get_title(loc="left") for axes in small] == heads
    for axes, expected in zip(small, values.reshape(4, 3, 5), strict=True):
        np.testing.assert_array_equal(axes.images[0].get_array(), expected)
    assert large.get_title(loc="left") == "layer 2, head 1"
    assert "".join(label.get_text() for label in large.get_xticklabels()) == "^1+2="
    assert [label.get_color() for label in large.get_yticklabels()] == ["black", "#D00000", "#D00000"]
    (frame,) = large.patches
    assert isinstance(frame, Rectangle) and frame.get_bbox().bounds == (0.5, 0.5, 2, 1)
    plt.close(drawn[0])


def test_a_long_sum_stays_on_a_page(drawn: list[Figure], tmp_path: Path) -> None:
    own = np.zeros((60, 200), dtype=bool)
    table = {"keys": ["1"] * 200, "written": ["2"] * 60, "wrong": [False] * 60, "own": own}
    bias = np.full((4, 4, 60, 200), np.nan, dtype=np.float32)
    bias[..., 0] = -1
    attention.bias_figure(table | {"values": bias}, tmp_path / "bias", "title")
    width, height = drawn[0].get_size_inches()
    assert width <= 11 and height <= 11
    plt.close(drawn[0])
