"""Mistakes of a user: one sentence that names the place, the right exit status, nothing written."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "smoke", "training.stesp=3"], "training.stesp: no such key; did you mean steps?"),
        (["train", "smoke", "encoding=fyre"], "encoding.kind: no such encoding; did you mean fire?"),
        (["train", "smoke", "evaluation.digits=0"], "evaluation.digits: '0' must go upwards from at least 1"),
        (["train", "smoke", "format.hints=5"], "format.hints: 5 hints cannot mark 6 places; set at least 6"),
        (["train", "smoke", "positions.maximum=39"], "positions.maximum: 39 ids are too few; 40 tokens need"),
        (
            ["train", "smoke", "also=[{encoding: fire, positions: {kind: randomized, maximum: 9}}]"],
            "also.0.positions.maximum: 9",
        ),
        (["train", "smoke", "model.heads=5"], "model.heads: 5 heads do not divide the width 32; the nearest"),
        (["train", "smok"], "no recipe or file 'smok'; did you mean smoke?"),
        (["train", "smoke", "--threads", "0"], "--threads: at least 1"),
        (["train"], "train: name either a recipe"),
        (["train", "smoke", "--resume", "abc"], "train: name either a recipe"),
        (["train", "--resume", "abc"], "no run 'abc'"),
        (
            ["train", "smoke", "training.pack=8", "training.rows=packed"],
            "training.pack: rows of 8 tokens are too",
        ),
        (["trian", "smoke"], "trian"),
        (["train", "smoke", "--drye-run"], "--drye-run"),
        (["evaluate", "nothing"], "no run 'nothing'"),
        (["add", "nothing", "1", "2"], "no run 'nothing'"),
        (["list", "encoding"], "encoding"),
        (["show", "smoke", "--digits", "0"], "--digits"),
        (["show", "smoke", "--digits", "40"], "format.hints: 32 hints cannot mark 41 places"),
        (["figure"], "name at least one run"),
        (["train", "smoke", "encoding=rope", "model.width=4", "model.heads=4"], "encoding.kind: rope turns pairs"),
        (
            ["train", "smoke", "encoding={kind: hard-alibi, windows: [1, 2, 3]}"],
            "encoding.windows: 3 windows for 2 heads",
        ),
        (
            ["train", "smoke", "format.hints=0", "format.spaces.probability=0.5", "positions.maximum=20"],
            "positions.maximum: 20",
        ),
        (
            ["show", "smoke", "format.hints=0", "format.spaces.probability=0.5", "positions.maximum=18"],
            "positions.maximum: 18",
        ),
        (
            [
                "train",
                "smoke",
                "format.hints=0",
                "format.padding=none",
                "task.lengths=independent",
                "encoding={kind: learned, rows: 14}",
                "positions=sequential",
            ],
            "encoding.rows: a table of 14 rows",
        ),
        (["bench", "data", "--digits", "0"], "--digits from 1 to 100"),
        (
            ["train", "smoke", "encoding={kind: learned, rows: 20}", "positions=sequential"],
            "encoding.rows: a table of 20 rows",
        ),
        (["train", "smoke", "evaluation.chain=2", "task=copy"], "evaluation.chain: only addition"),
        (["train", "smoke", "task=parity", "format.kind=interleaved"], "format.kind: interleaving needs"),
        (["quickstart", "--recipes", "smok"], "no recipe or file 'smok'"),
        (["quickstart", "--seeds", "x"], "--seeds: 'x' is not a number"),
        (["quickstart", "format.hints=1"], "format.hints: 1 hints cannot mark"),
    ],
)
def test_mistakes_end_in_one_line_and_exit_status_2(
    arguments: list[str], message: str, lengthlab: Command, runs_folder: Path
) -> None:
    status, out, err = lengthlab(*arguments)
    assert status == 2
    assert out == ""
    assert err.startswith("lengthlab: ") and message in err and err.count("\n") == 1
    assert not runs_folder.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "{run}", "--digits", "5-1"], "--digits: '5-1' must go upwards"),
        (["evaluate", "{run}", "--digits", "a"], "--digits: 'a' is not a number"),
        (
            ["evaluate", "{run}", "--digits", "32"],
            "format.hints: 32 hints cannot mark 33 places; set at least 33 (--digits",
        ),
        (["evaluate", "{run}", "--examples", "0"], "--examples: at least 1"),
        (["evaluate", "{run}", "--weights", "ema"], "has no ema weights: it was trained without"),
        (["figure", "{run}", "--out", "/proc/nowhere/figure"], "No such file or directory"),
        (["figure", "{run}", "--out", ""], "--out: name a file"),
        (["add", "{run}", "12a", "7"], "'12a' is not a number of decimal digits"),
        (["add", "{run}", "-1", "7"], "-1"),
        (["add", "{run}", "1" * 40, "7"], "format.hints: 32 hints cannot mark 41 places"),
    ],
)
def test_mistakes_with_a_real_run(arguments: list[str], message: str, trained: Path, lengthlab: Command) -> None:
    before = {path: path.stat().st_mtime_ns for path in trained.rglob("*")}
    status, _, err = lengthlab(*(argument.format(run=trained) for argument in arguments))
    assert status == 2 and message in err and err.count("\n") == 1
    assert {path: path.stat().st_mtime_ns for path in trained.rglob("*")} == before


def test_a_run_that_cannot_go_on_exits_with_status_1(lengthlab: Command) -> None:
    rate = "training.optimizer={kind: adamw, rate: 1e30}"
    status, _, err = lengthlab("train", "smoke", rate, "training.clip=0", "training.steps=50")
    assert status == 1 and "the loss became" in err and "Traceback" not in err


@pytest.mark.parametrize("name", ["evaluation.json", "status.json", "config.yaml"])
def test_a_damaged_run_is_named(name: str, trained: Path, lengthlab: Command, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    (copy / name).write_text("{ damaged")
    status, _, err = lengthlab("train", "--resume", str(copy))
    if name == "evaluation.json":
        status, _, err = lengthlab("figure", str(copy), "--out", str(tmp_path / "x"))
    assert status == 2 and name in err and err.count("\n") == 1


def test_a_runs_folder_that_is_a_file_is_refused(
    lengthlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LENGTHLAB_RUNS", str(tmp_path / "file"))
    status, _, err = lengthlab("train", "smoke")
    assert status == 2 and str(tmp_path / "file") in err and err.count("\n") == 1
