"""results/robust/collect.py: tables and figure from the runs that are finished, whatever has become of the others."""

import csv
import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from lengthlab.config.load import load_config
from lengthlab.evaluation.examples import Example, example_file
from lengthlab.runs.run import Run

FOLDER = Path(__file__).parents[2] / "results" / "robust"


@pytest.fixture
def collect(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    return importlib.import_module("collect")


ROBUST = "coupling-relative-robust"


def finished(seed: int, right: int, *overrides: str) -> Run:
    """A run tested on uniform sums of 100 and 1,000 digits and on carry chains: `right` of 20."""
    config = load_config(ROBUST, [*overrides, f"seed={seed}"])
    run = Run.of(config)
    run.begin(config, {"precision": "float32"}, ROBUST)
    run.log({"step": 1600, "loss": 1e-4, "examples": 200, "tokens": 4000})
    run.save_weights("last", b"weights")
    for chain, lengths in ((0, (5, 100, 1000)), (100_000, (100,))):
        kept = example_file(run.examples, run.weights, "last", chain)
        kept.add([Example(n, i, i < right or n < 100, 1, 1, 1, 1, True) for n in lengths for i in range(20)])
    run.end("finished", step=1600)
    return run


def test_partial_results_are_collected_printed_and_drawn(
    collect: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [finished(seed, 20) for seed in (26, 27, 28)]
    for seed, right in ((26, 20), (27, 10), (28, 0)):
        finished(seed, right, "training.sharpness.most=1")
    with (runs[0].examples / "last.jsonl").open("a") as file:
        file.write('{"digits":3000,"ind')  # a test under way
    runs[1].save_weights("last", b"other weights")  # trained again since its tests
    collect.main(tmp_path)
    out, err = capsys.readouterr()
    assert "coupling-relative-robust, seed 24: no finished run" in err and "of other weights, left out" in err
    rows = list(csv.DictReader((tmp_path / "exact_match.csv").read_text().splitlines()))
    assert len(rows) == 5 * 4 and {row["seed"] for row in rows if row["recipe"].endswith("robust")} == {"26", "28"}
    assert "| 27 | 10 of 20 (29.9-70.1) at 100 | 10 of 20 (29.9-70.1) | 10 of 20 (29.9-70.1) |" in out
    assert "| seeds with 99% | 2 of 2 | 2 of 2 | 2 of 2 |" in out
    assert "Fewer than 3 seeds have finished in both." in out
    assert (tmp_path / "far.png").stat().st_size > 10_000
    assert "Given to all: position ids" in (tmp_path / "far.svg").read_text()


def test_rows_of_runs_that_are_elsewhere_stay(collect: Any, tmp_path: Path) -> None:
    finished(26, 20)
    collect.main(tmp_path)
    before = (tmp_path / "exact_match.csv").read_text()
    collect.main(tmp_path)  # nothing twice
    assert (tmp_path / "exact_match.csv").read_text() == before
    table = (
        (tmp_path / "exact_match.csv").read_text().replace("coupling-relative-robust,26,", ",".join((ROBUST, "21", "")))
    )
    (tmp_path / "exact_match.csv").write_text(table.replace(Run.of(load_config(ROBUST, ["seed=26"])).id, "12345e0678"))
    collect.main(tmp_path)
    rows = list(csv.DictReader((tmp_path / "exact_match.csv").read_text().splitlines()))
    assert [row["seed"] for row in rows] == ["21"] * 4 + ["26"] * 4 and rows[0]["run"] == "12345e0678"


def test_pairs_are_of_one_seed(collect: Any) -> None:
    paired_table = importlib.import_module("tables").paired_table

    def row(recipe: str, seed: int, score: float) -> dict[str, Any]:
        return {"recipe": recipe, "seed": seed, "test": "uniform", "digits": 100, "exact_match": score}

    rows = [row("a", seed, 1.0 - seed / 10) for seed in range(4)] + [
        row("b", seed, 0.5 - seed / 10) for seed in (3, 2, 1)
    ]
    assert "| uniform sums | 100 | 3 | 80% | 30% | +50.0 (50.0 to 50.0) | 0.25 |" in paired_table(rows, "a", "b")
