"""Alignment by length draws what is in its tables."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from lengthlab.figures import alignment


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are saved, kept open to be looked at."""
    figures: list[Figure] = []

    def keep(figure: Figure, path: Path) -> list[Path]:
        figures.append(figure)
        return [path]

    monkeypatch.setattr(alignment, "save", keep)
    return figures


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
