"""results/figure1/collect.py: the figure and the table from the runs that are finished."""

import runpy
from pathlib import Path

import pytest

from lengthlab.config.load import load_config
from lengthlab.evaluation.examples import Example, example_file
from lengthlab.runs.run import Run

FOLDER = Path(__file__).parents[2] / "results" / "figure1"


def test_finished_runs_are_collected_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed, far in ((11, 1.0), (12, 0.5)):
        config = load_config("zhou2024-laptop", [f"seed={seed}"])
        run = Run.of(config)
        run.begin(config, {}, "zhou2024-laptop")
        run.save_weights("last", b"weights")
        for chain, scores in ((0, {20: 1.0, 40: 1.0, 60: far, 100: 0.5 * far}), (100_000, {100: 0.25 * far})):
            kept = example_file(run.examples, run.weights, "last", chain)
            kept.add([Example(n, i, i < 8 * score, 1, 1, 1, 1, True) for n, score in scores.items() for i in range(8)])
        run.end("finished")
    main = runpy.run_path(str(FOLDER / "collect.py"))["main"]
    main(tmp_path, [11, 12])
    out, err = capsys.readouterr()
    paper = "| Zhou et al. 2024 | 2 | 100% (100% to 100%) |  | 75% (50% to 100%) |  | 38% (25% to 50%) | 1.5x | 1.0x |"
    assert paper + " 2.5x, best of 10 |" in out and "| Abacus | 0 |" in out
    assert "a carry through all places, 100 digits: 2 seeds of Zhou et al. 2024, 8 sums each, the lowest 12" in out
    assert "abacus-laptop, seed 11: no finished run" in err
    small = out.partition("With a tenth of the budget")[2]
    assert "| FIRE and randomized ids | " in small and small.count("2.5x, best of 10") == 1
    table = (tmp_path / "exact_match.csv").read_text()
    assert len(table.splitlines()) == 1 + 10
    drawn = (tmp_path / "figure1.svg").read_text()
    assert "Given to all" in drawn and "0 of 2 seeds of the paper's recipe have 98% at 100 digits" in drawn
    assert not (tmp_path / "best.svg").exists()  # of one system
    main(tmp_path, [13])  # the rows of runs that are not looked at stay
    assert (tmp_path / "exact_match.csv").read_text() == table
