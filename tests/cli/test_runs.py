"""`lengthlab runs` as a person uses it."""

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lengthlab.runs.run import Run

MakeRun = Callable[..., Path]
Command = Callable[..., tuple[int, str, str]]


def test_the_table_fits_a_terminal_of_100_columns(
    several: None, lengthlab: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    status, out, err = lengthlab("runs")
    assert status == 0 and err == ""
    table = out.partition("11 runs:")[0].splitlines()
    assert max(map(len, table)) <= 100
    monkeypatch.delenv("COLUMNS")
    assert lengthlab("runs")[1] == out  # the same without a terminal
    assert all(f"fire{seed}" in out and f"rope{seed}" in out for seed in range(5))
    assert "11 runs: 10 finished, 1 stopped" in out
    assert "to resume: lengthlab train --resume late\n" in out
    assert "the same in all: task addition, positions randomized, format equation" in out
    assert "71.0%" in out and "35.5%" in out
    assert out.index("fire4") < out.index("rope0")  # by time


def test_a_run_that_is_being_trained_is_running(several: None, lengthlab: Command, runs_folder: Path) -> None:
    """The lock of its process says so."""
    with Run(runs_folder / "late").lock():
        out = lengthlab("runs")[1]
        assert "10 finished, 1 running" in out and "to resume" not in out
        assert "none of 11 runs meets" in lengthlab("runs", "state = 'stopped'")[1]
    assert "1 of 11 runs: 1 stopped" in lengthlab("runs", "state = 'stopped'")[1]


def test_an_empty_folder_says_how_to_make_a_run(lengthlab: Command, runs_folder: Path) -> None:
    status, out, err = lengthlab("runs")
    assert status == 0 and "lengthlab train" in out and err == ""
    assert lengthlab("runs", "--json")[1] == "[]\n"
    assert "lengthlab train" in lengthlab("runs", "exact_match_20 > 0.9", "--over-seeds")[1]
    assert not runs_folder.exists()


def test_conditions_choose_rows_and_the_count_says_of_how_many(several: None, lengthlab: Command) -> None:
    _, out, _ = lengthlab("runs", "encoding = 'fire' and exact_match_6 > 0.9")
    assert "fire0" in out and "fire1" in out and "fire2" not in out and "2 of 11 runs: 2 finished" in out
    assert lengthlab("runs", "layers = 99")[:2] == (0, "none of 11 runs meets layers = 99\n")


def test_settings_without_a_column_are_named_where_they_differ(make_run: MakeRun, lengthlab: Command) -> None:
    make_run("a", {5: 1.0}, {"training.growth": 0.25, "encoding": {"kind": "rope", "base": 10}})
    make_run("b", {5: 1.0}, {"seeds.weights": 5})
    assert "they differ in more than columns show: training.growth\n" in lengthlab("runs")[1]
    assert "differ in more" not in lengthlab("runs", "id = 'a'")[1]


def test_a_narrow_terminal_gets_a_line_for_each_cell(
    several: None, lengthlab: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")  # makes rich take the output for a terminal
    _, out, _ = lengthlab("runs", "id = 'fire3'", "--columns", "all")
    assert re.search(r"^encoding +fire$", out, re.MULTILINE) and re.search(r"^exact_match_6 +71.0%$", out, re.MULTILINE)
    _, out, _ = lengthlab("runs")
    assert max(len(re.sub("\x1b\\[[0-9;]*m", "", line)) for line in out.partition("11 runs")[0].splitlines()) <= 60


def test_json_has_every_column_with_its_type(several: None, lengthlab: Command) -> None:
    rows = json.loads(lengthlab("runs", "id = 'fire3' or state = 'stopped'", "--json")[1])
    assert [row["id"] for row in rows] == ["fire3", "late"]
    assert rows[0]["exact_match_6"] == 0.71 and rows[0]["hints"] == 32 and rows[0]["seconds"] == 90
    assert rows[1]["exact_match_6"] is None and "config" not in rows[0]
    (only,) = json.loads(lengthlab("runs", "id = 'late'", "--columns", "id,config", "--json")[1])
    assert only.keys() == {"id", "config"} and only["config"]["seeds"]["weights"] == 9


def test_csv_can_be_read_back(several: None, lengthlab: Command) -> None:
    out = lengthlab("runs", "encoding = 'rope'", "--csv", "--sort", "-exact_match_6")[1]
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["id"] for row in rows] == ["rope2", "rope3", "rope0", "rope4", "rope1"]
    assert float(rows[0]["exact_match_9"]) == 0.325 and rows[0]["message"] == ""
    out = lengthlab(
        "runs", "select id, exact_match from metrics where id = 'fire0' and exact_match is not null", "--csv"
    )
    assert list(csv.reader(io.StringIO(out[1])))[1] == ["fire0", '{"2": 0.25, "4": 0.0}']


def test_sql_on_the_command_line(several: None, lengthlab: Command) -> None:
    sql = "SELECT encoding, count(*) AS n, avg(exact_match_6) AS mean FROM runs GROUP BY ALL ORDER BY n"
    rows = json.loads(lengthlab("runs", sql, "--json")[1])
    assert rows == [
        {"encoding": "rope", "n": 5, "mean": pytest.approx(0.412)},
        {"encoding": "fire", "n": 6, "mean": pytest.approx(0.884)},
    ]
    assert "0.884" in lengthlab("runs", sql)[1]
    assert "exact_match_9" in lengthlab("runs", "describe runs")[1]


def test_columns_and_order_can_be_chosen(several: None, lengthlab: Command) -> None:
    _, out, _ = lengthlab("runs", "--columns", "id, exact_match_6", "--sort", "exact_match_6")
    lines = [line.split() for line in out.splitlines() if "%" in line]
    assert lines[0] == ["rope1", "20.0%"] and lines[-1] == ["fire0", "100.0%"]
    _, out, _ = lengthlab("runs", "--columns", "all")
    assert "final_" in out and out.count("\n") < 30  # one line for each run, however long: nobody looks


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["encodng = 'x'"], "runs: no column 'encodng'; did you mean encoding?"),
        (["--columns", "id,layer"], "runs: no column 'layer'; did you mean layers?"),
        (["--sort", "-exact_match_99"], "no run was tested at 99 digits; tested lengths are 3,6,9"),
        (["from runs", "--sort", "id"], "in SQL they are part of the query"),
        (["--json", "--csv"], "either --csv or --json"),
        (["--digits", "5"], "go with --over-seeds"),
        (["--over-seeds", "--digits", "x"], "--digits: 'x' is not a number"),
        (["--over-seeds", "--digits", "6-8"], "no run was tested at 7-8 digits; tested lengths are 3,6,9"),
        (["--over-seeds", "--threshold", "90"], "--threshold: above 0 and at most 1"),
        (["from read_csv('/etc/passwd')"], "no files"),
    ],
)
def test_mistakes_end_in_one_sentence(arguments: list[str], message: str, several: None, lengthlab: Command) -> None:
    status, out, err = lengthlab("runs", *arguments)
    assert status == 2 and out == "" and message in err and err.count("\n") == 1


def test_damage_is_told_on_standard_error_and_the_rest_is_listed(
    several: None, lengthlab: Command, runs_folder: Path
) -> None:
    (runs_folder / "fire0" / "config.yaml").write_text("task: {")
    with open(runs_folder / "fire1" / "metrics.jsonl", "a") as file:
        file.write('{"step": 3')
    status, out, err = lengthlab("runs", "--json")
    assert status == 0 and len(json.loads(out)) == 10
    assert err == (
        "lengthlab: skipped 2 damaged or foreign rows: "
        "fire0/config.yaml (not valid YAML: did not find expected node content), "
        "fire1/metrics.jsonl (1 row: cut short)\n"
    )


def test_three_hundred_runs_and_no_torch(make_run: MakeRun, runs_folder: Path) -> None:
    """In a process of its own, to see what it imports."""
    for number in range(300):
        scores = {digits: 1 / digits for digits in range(1, 31)}
        make_run(f"run{number:03}", scores, {"seeds.weights": number % 10, "model.layers": 1 + number // 10})
    code = """
import contextlib, sys
from lengthlab.cli.app import main
with contextlib.suppress(SystemExit):
    main(["runs", "layers > 25 and exact_match_20 > 0.01"])
with contextlib.suppress(SystemExit):
    main(["runs", "select count(*) from metrics", "--csv"])
sys.exit("torch" in sys.modules or "scipy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == ""
    assert "50 of 300 runs: 50 finished" in done.stdout and done.stdout.endswith("count_star()\n900\n")
