"""The figures of the analysis draw what is in their tables."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lengthlab.figures import alignment, attention, errors_of_runs


def widths(axes: Axes) -> list[float]:
    return [bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle)]


def heights(axes: Axes) -> list[float]:
    return [bar.get_height() for bar in axes.patches if isinstance(bar, Rectangle)]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are saved, kept open to be looked at."""
    figures: list[Figure] = []

    def keep(figure: Figure, path: Path) -> list[Path]:
        figures.append(figure)
        return [path]

    for module in (alignment, attention, errors_of_runs):
        monkeypatch.setattr(module, "save", keep)
    return figures


def measure(name: str, share: float, base: float | None = None) -> dict[str, object]:
    return {"name": name, "share": share, "low": share / 2, "high": (1 + share) / 2, "base": base}


def test_errors_are_drawn_as_bars_with_what_to_compare(drawn: list[Figure], tmp_path: Path) -> None:
    summary = {
        "runs": 1,
        "first": [measure("wrong hint", 0.25), measure("any other digit", 0.75, 0.4)],
        "marks": [measure("wrong digit", 0.9)],
        "carry": [measure("wrong digits", 0.5, 0.45)],
        "places": [{"digits": 3, "place": place, "share": 0.1, "low": 0.0, "high": 0.2} for place in range(4)],
        "counts": [measure("1", 0.8, 0.7), measure("2", 0.2, 0.2)],
        "fit": {"mean": 1.2, "ratio": 0.2, "misfit": 0.1},
        "shifts": [measure("-1", 0.1, 0.2), measure("0", 0.5, 0.1)],
    }
    errors_of_runs.errors_figure(summary, 2, tmp_path / "errors", "title")
    first, where, carry, shifts, counts, marks = drawn[0].axes
    assert widths(first) == [0.25, 0.75]
    assert [label.get_text() for label in first.get_yticklabels()] == ["wrong hint", "any other digit"]
    assert np.asarray(first.lines[-1].get_xdata()).tolist() == [0.4, 0.4]
    assert heights(shifts) == [0.1, 0.5]
    assert heights(counts) == [0.8, 0.2]
    assert counts.get_yscale() == "log"
    assert np.asarray(where.lines[0].get_ydata()).tolist() == [0.1] * 4
    assert widths(carry) == [0.5]
    assert widths(marks) == [0.9]
    plt.close(drawn[0])


def test_panels_without_data_say_so(drawn: list[Figure], tmp_path: Path) -> None:
    """Answers that only end wrong have no wrong digits."""
    empty = {"carry": [], "places": [], "counts": [], "fit": None, "shifts": []}
    summary = {"runs": 1, "first": [measure("does not end", 1.0)], "marks": [measure("does not end", 1.0)]} | empty
    errors_of_runs.errors_figure(summary, 2, tmp_path / "errors", "title")
    texts = [[text.get_text() for text in axes.texts] for axes in drawn[0].axes]
    assert texts == [[], ["nothing to show"], ["nothing to show"], ["nothing to show"], ["nothing to show"], []]
    plt.close(drawn[0])


def test_heat_maps_show_every_head_with_its_tokens(drawn: list[Figure], tmp_path: Path) -> None:
    values = np.random.default_rng(0).random((2, 2, 3, 5)).astype(np.float32)
    own = np.zeros((3, 5), dtype=bool)
    own[1, 1:3] = True
    table = {"keys": list("^1+2="), "written": list("3$."), "wrong": [False, True, True], "own": own, "values": values}
    attention.attention_figure(table, tmp_path / "attention", "title")
    panels = drawn[0].axes[:4]
    assert [axes.get_title(loc="left") for axes in panels] == [f"layer {i}, head {j}" for i in (1, 2) for j in (1, 2)]
    for axes, expected in zip(panels, values.reshape(4, 3, 5), strict=True):
        np.testing.assert_array_equal(axes.images[0].get_array(), expected)
        assert "".join(label.get_text() for label in axes.get_xticklabels()) == "^1+2="
        assert [label.get_color() for label in axes.get_yticklabels()] == ["black", "#D00000", "#D00000"]
        (frame,) = axes.patches
        assert isinstance(frame, Rectangle) and frame.get_bbox().bounds == (0.5, 0.5, 2, 1)
    plt.close(drawn[0])


def test_the_alignment_of_one_run_and_of_several(drawn: list[Figure], tmp_path: Path) -> None:
    rows = [
        {"digits": digits, "exact_match": 1 / digits, "low": 0.0, "high": 1.0, "score": 0.9 / digits, "uniform": 0.1}
        | {"score_of_wrong": None if digits == 1 else 0.2, "profile": [0, 0, 0.1, 0.9 / digits, 0, 0, 0]}
        | {"farther": 0.0, "elsewhere": 0.9 - 0.9 / digits}
        for digits in (1, 2, 3)
    ]
    course = alignment.Course("a", rows, 2)
    alignment.alignment_figure([course], tmp_path / "alignment", "title")
    lines = {str(line.get_label()): np.asarray(line.get_ydata()).tolist() for line in drawn[0].axes[0].lines}
    assert lines["attention on the own place"] == pytest.approx([0.9, 0.45, 0.3])
    assert lines["attention at wrong digits"] == [0.2, 0.2]  # where there are any
    alignment.alignment_figure([course, course], tmp_path / "alignment", "title")
    assert [len(axes.lines) for axes in drawn[1].axes] == [2, 2]
    for figure in drawn:
        plt.close(figure)
