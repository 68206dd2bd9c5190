"""`lengthlab reproduce` and `claims` as a user types them; one experiment is trained for real."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lengthlab.paper.experiment import load_experiment, trials
from lengthlab.paper.tables import Results

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.mark.slow
def test_an_experiment_from_a_failed_trial_to_its_figure(
    here: Path, lengthlab: Command, runs_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "one.yaml").write_text(
        "varies: nothing\nquestion: Does it run?\nsentence: One run.\nfigure: exact_match_over_seeds\n"
        "factors: {encoding: [FIRE]}\n"
    )
    good, bad = trials(load_experiment("seeds"), "smoke")
    runs_folder.mkdir()
    (runs_folder / bad.config.id).write_text("in the way of a run folder")
    status, out, _ = lengthlab("reproduce", "seeds", "--scale", "smoke")
    assert status == 1 and "FIRE, seed 2 failed: " in out and "seeds: 1 run;" in out
    assert [member.run for member in Results(here / "results" / "smoke").members("seeds")] == [good.config.id]

    (runs_folder / bad.config.id).unlink()
    status, out, err = lengthlab("reproduce", "seeds", "one.yaml", "--scale", "smoke", "--json")
    assert status == 0, err
    report = json.loads(out)
    assert report["failed"] == [] and report["tables"] == "results/smoke"
    for name in ("seeds", "one"):
        assert {Path(file).suffix for file in report["figures"][name]} >= {".png", ".svg"}
        assert all((here / file).stat().st_size > 1000 for file in report["figures"][name])
    assert [verdict["finding"] for verdict in report["claims"]] == ["not enough evidence"]
    results = Results(here / "results" / "smoke")
    assert [(member.setting, member.seed) for member in results.members("seeds")] == [("FIRE", 1), ("FIRE", 2)]
    assert results.members("one") == results.members("seeds")
    assert len(list(runs_folder.glob("*/config.yaml"))) == 2  # shared: trained once

    status, out, _ = lengthlab("reproduce", "seeds", "--scale", "smoke", "--dry-run")
    assert status == 0 and "2 runs, 0 to do" in out and "Nothing was started" in out
    assert "Position ids: all encodings have ids in sequence" in out
    assert "Position ids" not in lengthlab("reproduce", "one.yaml", "--scale", "smoke", "--dry-run")[1]
    status, out, _ = lengthlab("reproduce", "encodings", "--scale", "smoke", "--collect-only", "--out", "elsewhere")
    assert status == 0 and "encodings: 2 runs" in out and "FIRE is the best" in out
    assert (here / "elsewhere" / "figures" / "encodings.png").exists()
    status, out, _ = lengthlab("claims", "fire-best", "--scale", "smoke", "--rules")
    assert status == 0 and "not run" in out and "holds if in every pair" in " ".join(out.split())
    monkeypatch.setenv("LENGTHLAB_RUNS", str(here / "another machine"))  # where only the tables are at hand
    plan = lambda *more: json.loads(
        lengthlab("reproduce", "seeds", "--scale", "smoke", "--dry-run", "--json", *more)[1]
    )
    assert [run["state"] for run in plan()] == ["to do", "to do"]
    assert [run["state"] for run in plan("--missing")] == ["in the tables", "in the tables"]
    status, out, _ = lengthlab("reproduce", "seeds", "--scale", "smoke", "--missing")
    assert status == 0 and "seeds: 2 runs;" in out and not (here / "another machine").exists()
    verdicts = json.loads(lengthlab("claims", "--results", "elsewhere", "--json")[1])
    assert len(verdicts) >= 16 and {"id", "finding", "parts", "rule", "sentence"} <= verdicts[0].keys()


def test_a_dry_run_lists_every_run_and_writes_nothing(here: Path, lengthlab: Command) -> None:
    runs = json.loads(lengthlab("reproduce", "encodings", "index-hints", "--scale", "mini", "--dry-run", "--json")[1])
    assert len(runs) == len({run["run"] for run in runs}) == 60
    assert runs[0]["experiments"] == ["encodings", "index-hints"] and runs[-1]["experiments"] == ["index-hints"]
    assert all(run["state"] == "to do" and run["seconds"] > 10 for run in runs)
    runs = json.loads(lengthlab("reproduce", "seeds", "--seeds", "3,7", "--dry-run", "--json")[1])
    assert [run["label"] for run in runs] == ["FIRE, seed 3", "FIRE, seed 7"]
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce"], "name at least one experiment"),
        (["reproduce", "encodigns"], "no experiment or file 'encodigns'; did you mean encodings?"),
        (["reproduce", "seeds", "--seeds", "x"], "--seeds: 'x' is not a number"),
        (["reproduce", "seeds", "--scale", "tiny"], "--scale"),
        (["reproduce", "seeds", "--workers", "0"], "--workers: at least 1"),
        (["reproduce", "seeds", "--gpus", "1"], "--gpus: only with --engine ray"),
        (["reproduce", "seeds", "--out", "/nowhere/results"], "--out: no folder /nowhere;"),
    ],
)
def test_mistakes(arguments: list[str], message: str, here: Path, lengthlab: Command) -> None:
    status, _, err = lengthlab(*arguments)
    assert status == 2 and message in err and err.count("\n") == 1
    assert list(here.iterdir()) == []
