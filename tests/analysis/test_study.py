"""The mistakes of a run as rows: all lengths beyond training together, the first, the longest, and a little of each."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lengthlab.analysis.names import SUMS
from lengthlab.analysis.study import write_error_rows
from lengthlab.config.schema import Config
from lengthlab.runs.run import Run
from lengthlab.training.loop import Trainer, Watcher


def test_rows_of_a_run_that_learned_nothing(smoke: Callable[..., Config], tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    Trainer(smoke("training.digits=2", "training.steps=2", "evaluation.digits=1-5"), run, Watcher()).train()
    write_error_rows(run, examples=20)
    rows = json.loads((run.path / "errors.json").read_text())
    sums = [(row["digits"], row["key"], row["value"]) for row in rows if row["measure"] == "sums"]
    assert sums == [(digits, kind, 0.0) for kind in SUMS for digits in (2, 3, 4, 5)]
    rows = [row for row in rows if row["measure"] != "sums"]
    measures = {digits: {row["measure"] for row in rows if row["digits"] == digits} for digits in (0, 3, 4, 5)}
    assert {row["digits"] for row in rows} == measures.keys() and measures[4] == {"counts", "counts base"}
    assert {"first", "marks", "carry", "fifths", "counts", "shifts", "fifths base"} <= measures[0]
    assert measures[3] == measures[0] and measures[5] == measures[0] | {"places"}
    assert [row["key"] for row in rows if row["measure"] == "places"] == [str(place) for place in range(6)]
    for digits, examples in ((0, 60), (3, 20), (4, 20), (5, 20)):
        counts = [row for row in rows if row["digits"] == digits and row["measure"] == "counts"]
        assert {(row["examples"], row["wrong"]) for row in counts} == {(examples, examples)}
        assert sum(row["value"] for row in counts) == pytest.approx(1)
    (run.path / "errors.json").write_text("[]")
    write_error_rows(run)
    assert (run.path / "errors.json").read_text() == "[]"  # done once
