"""Mistakes of a user: one sentence that names the place, the right exit status, nothing written."""

import json
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
        (["train", "smoke", "training.steps=\udcff"], r"'training.steps=\udcff' is not text in UTF-8"),
        (["runs", "id = '\udcff'"], "is not text in UTF-8"),
        (
            ["train", "smoke", "training.optimizer=muon", "training.optimizer.muon_rate=1e308"],
            "muon_rate: should be less",
        ),
        (["reproduce", "encodings", "--seeds", "1-100000", "--dry-run"], "--seeds: at most 1,000 of them"),
        (["reproduce", "encodings", "--engine", "ray", "--gpus", "nan", "--dry-run"], "--gpus: a fraction up to 1"),
        (["train", "smoke", "--threads", "100000"], "--threads: at most"),
        (["train", "smoke", "--plugin", "/dev/zero"], "--plugin /dev/zero: not a file"),
        (["show", "smoke", "--examples", "1000000"], "--examples: at most 10,000"),
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
        (["bench", "data", "--digits", "0"], "--digits: at least 1"),
        (["bench", "data", "--batch", "1" + 18 * "0"], "--batch: at most 1,000,000"),
        (
            ["train", "smoke", "encoding={kind: learned, rows: 20}", "positions=sequential"],
            "encoding.rows: a table of 20 rows",
        ),
        (["train", "smoke", "evaluation.chain=2", "task=copy"], "evaluation.chain: only addition"),
        (["train", "smoke", "task=parity", "format.kind=interleaved"], "format.kind: interleaving needs"),
        (["train", "smoke", "--seed", "3", "seed=4"], "--seed 3 and seed=4: give only one of them"),
        (["train", "smoke", "--seed", "3", "seeds.data=3"], "--seed 3 and seeds.data=3: give only one of them"),
        (["train", "smoke", "--seed", "x"], "--seed"),
        (["train", "--resume", "abc", "--seed", "1"], "--seed: a run that is resumed has its seeds already"),
        (
            ["train", "smoke", "--steps", "5"],
            "--steps: settings are written without dashes: training.steps=5",
        ),
        (["train", "smoke", "--lr=0.1"], "--lr: settings are written without dashes: training.optimizer.rate=0.1"),
        (["train", "smoke", "--batch-size", "8"], "written without dashes: training.batch=8"),
        (["show", "smoke", "--model.layers", "2"], "written without dashes: model.layers=2"),
        (["show", "smoke", "--seed", "3", "seed=4"], "--seed 3 and seed=4: give only one of them"),
        (
            ["train", "smoke", "steps=5", "lr=0.1", "training.digits=0", "model.layers=x", "--dry-run"],
            "steps: no such key; did you mean training.steps? lr: no such key; did you mean training.optimizer.rate? "
            "model.layers: should be a whole number (got 'x'). training.digits: should be greater than or equal to 1",
        ),
        (["report", "--results", "nowhere"], "--results: no folder nowhere"),
    ],
)
def test_mistakes_end_in_one_line_and_exit_status_2(
    arguments: list[str], message: str, lengthlab: Command, runs_folder: Path
) -> None:
    status, out, err = lengthlab(*arguments)
    assert status == 2
    assert out == ""
    assert err.startswith("lengthlab: ") and message in err and err.count("\n") == 1 and len(err) < 1000
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
        (["evaluate", "{run}", "--examples", "1" + 18 * "0"], "--examples: at most 10,000,000"),
        (["evaluate", "{run}", "--digits", f"1-{5000 * '9'}"], "is not a number or a range such as 1-20"),
        (["evaluate", "{run}", "--examples", 5000 * "9"], "into int"),
        (["evaluate", "{run}", "--weights", "ema"], "has no ema weights: it was trained without"),
        (["figure", "{run}", "--out", "/proc/nowhere/figure"], "--out: no folder /proc/nowhere"),
        (["figure", "{run}", "--out", ""], "--out: name a file"),
        (["add", "{run}", "12a", "7"], "'12a' is not a number of decimal digits"),
        (["add", "{run}", "-1", "7"], "-1"),
        (["add", "{run}", "1" * 40, "7"], "reads numbers of at most 31 digits, and one of these has 40"),
    ],
)
def test_mistakes_with_a_real_run(arguments: list[str], message: str, trained: Path, lengthlab: Command) -> None:
    before = {path: path.stat().st_mtime_ns for path in trained.rglob("*")}
    status, _, err = lengthlab(*(argument.format(run=trained) for argument in arguments))
    assert status == 2 and message in err and err.count("\n") == 1 and len(err) < 1000
    assert {path: path.stat().st_mtime_ns for path in trained.rglob("*")} == before


def test_a_run_that_cannot_go_on_exits_with_status_1(lengthlab: Command) -> None:
    rate = "training.optimizer={kind: adamw, rate: 1e30}"
    status, _, err = lengthlab("train", "smoke", rate, "training.clip=0", "training.steps=50")
    assert status == 1 and "the loss became" in err and "Traceback" not in err


@pytest.mark.parametrize("name", ["evaluation.json", "status.json", "config.yaml"])
def test_a_damaged_run_is_mended_from_its_checkpoint(
    name: str, trained: Path, lengthlab: Command, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(trained, copy)
    (copy / name).write_text("{ damaged")
    assert lengthlab("train", "--resume", str(copy))[0] == 0
    same = "config.yaml", "evaluation.json", "model.safetensors", "metrics.jsonl"
    assert all((copy / file).read_bytes() == (trained / file).read_bytes() for file in same)
    assert json.loads((copy / "status.json").read_text())["state"] == "finished"


def test_a_runs_folder_that_is_a_file_is_refused(
    lengthlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LENGTHLAB_RUNS", str(tmp_path / "file"))
    status, _, err = lengthlab("train", "smoke")
    assert status == 2 and str(tmp_path / "file") in err and err.count("\n") == 1
