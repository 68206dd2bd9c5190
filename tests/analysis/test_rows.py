"""The mistakes of a run as rows: all lengths beyond training together, and how many digits are wrong at each."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lengthlab.analysis.rows import write_error_rows
from lengthlab.config import Config
from lengthlab.runs import Run
from lengthlab.training.loop import Trainer, Watcher


def test_rows_of_a_run_that_learned_nothing(smoke: Callable[..., Config], tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    Trainer(smoke("training.digits=2", "training.steps=2", "evaluation.digits=1-4"), run, Watcher()).train()
    write_error_rows(run, examples=20)
    rows = json.loads((run.path / "errors.json").read_text())
    assert {row["digits"] for row in rows} == {0, 3, 4}
    assert {row["measure"] for row in rows if row["digits"]} == {"counts", "counts base"}
    assert {"first", "marks", "carry", "fifths", "counts", "shifts", "fifths base"} <= {row["measure"] for row in rows}
    for digits, examples in ((0, 40), (3, 20), (4, 20)):
        counts = [row for row in rows if row["digits"] == digits and row["measure"] == "counts"]
        assert {(row["examples"], row["wrong"]) for row in counts} == {(examples, examples)}
        assert sum(row["value"] for row in counts) == pytest.approx(1)
    (run.path / "errors.json").write_text("[]")
    write_error_rows(run)
    assert (run.path / "errors.json").read_text() == "[]"  # done once
