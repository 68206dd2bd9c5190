"""results/figure1/collect.py: the figure and the table from the runs that are finished."""

import runpy
from pathlib import Path

import pytest

from lengthlab.config.load import load_config
from lengthlab.runs.run import Run

FOLDER = Path(__file__).parents[2] / "results" / "figure1"


def test_finished_runs_are_collected_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed, far in ((11, 1.0), (12, 0.5)):
        config = load_config("zhou2024-laptop", [f"seed={seed}"])
        run = Run.of(config)
        run.begin(config, {}, "zhou2024-laptop")
        scores = {20: 1.0, 40: 1.0, 60: far, 100: 0.5 * far}
        rows = [{"digits": n, "exact_match": score, "low": 0.0, "high": 1.0} for n, score in scores.items()]
        run.save_evaluation([row | {"examples": 500, "weights": "last"} for row in rows])
        run.end("finished")
    runpy.run_path(str(FOLDER / "collect.py"))["main"](tmp_path, [11, 12])
    out, err = capsys.readouterr()
    paper = "| Zhou et al. 2024 | 2 | 100% (100% to 100%) |  | 75% (50% to 100%) |  | 38% (25% to 50%) | 1.5x | 1.0x |"
    assert paper + " 2.5x, best of 10 |" in out and "| Abacus | 0 |" in out
    assert "abacus-laptop, seed 11: no finished run" in err
    assert len((tmp_path / "exact_match.csv").read_text().splitlines()) == 1 + 8
    assert "Given to all" in (tmp_path / "best.svg").read_text() and (tmp_path / "figure1.png").exists()
