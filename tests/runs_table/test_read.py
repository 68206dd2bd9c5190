"""Run folders become records; what is damaged is skipped and counted, and never stops the rest."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from lengthlab.config import Config
from lengthlab.runs import Run
from lengthlab.runs_table.database import Database
from lengthlab.runs_table.read import read_runs
from lengthlab.training.loop import Trainer, Watcher

MakeRun = Callable[..., Path]


def test_a_real_run_is_read_as_it_was_trained(smoke: Callable[..., Config], runs_folder: Path) -> None:
    config = smoke("seeds.data=7", "evaluation.weights=[best, last]", "also=[{positions: sequential, encoding: rope}]")
    run = Run.of(config)
    trainer = Trainer(config, run, Watcher())
    trainer.train()
    loaded = read_runs(runs_folder)
    (record,) = loaded.records
    assert loaded.complaint is None
    row = record.row
    assert row["id"] == config.id and row["state"] == "finished" and row["step"] == row["steps"] == 20
    assert row["parameters"] == sum(weights.numel() for weights in trainer.model.parameters())
    assert (row["seed_weights"], row["seed_data"], record.seed) == (0, 7, "0/7/0")
    assert (row["encoding"], row["positions"], row["also"]) == ("fire", "randomized", "sequential rope")
    assert (row["trained_digits"], row["rate"], row["optimizer"]) == (3, 0.002, "muon")
    assert row["final_loss"] == run.metrics[-2]["loss"] and row["final_accuracy"] == run.metrics[-2]["accuracy"]
    assert 0 <= row["minutes"] < 5
    assert row["weights"] == "last"
    assert record.scores == {line["digits"]: line["exact_match"] for line in run.evaluation_of("last")}
    assert len(record.evaluation) == 10  # two weights, five lengths
    assert record.metrics == [line | {"id": config.id} for line in run.metrics]


def test_settings_that_differ_only_in_seeds_have_one_hash(make_run: MakeRun, runs_folder: Path) -> None:
    make_run("a", {5: 1.0})
    make_run("b", {5: 1.0}, {"seeds.weights": 4, "seeds.data": 5, "seeds.sampling": 6})
    make_run("c", {5: 1.0}, {"training.growth": 0.25})
    make_run("d", {5: 1.0}, {"seeds.test": 9})  # the same model on other problems is not another seed
    settings = {record.id: record.row["setting"] for record in read_runs(runs_folder).records}
    assert settings["a"] == settings["b"]
    assert len(set(settings.values())) == 3


DAMAGES: list[tuple[str, bytes, str]] = [
    ("config.yaml", b"task: {kind: addition", "not valid YAML"),
    ("config.yaml", b"\xff\xfe\x00", "not text"),
    ("config.yaml", b"", "no config"),
    ("config.yaml", b"- a list", "no config"),
    ("config.yaml", b"when: 2026-13-45", "not valid YAML"),
    ("config.yaml", b"task: addition\nseeds: {weights: 1}", "of another version: no task.kind"),
    ("status.json", b'{"state": "finis', "not valid JSON"),
    ("status.json", b"[1, 2]", "no status"),
    ("evaluation.json", b'[{"digits": 1, "exact_mat', "not valid JSON"),
    ("evaluation.json", b"{}", "no rows"),
    ("metrics.jsonl", b"\x80\x81\n", "not text"),
    ("model.safetensors", b"", "not safetensors"),
    ("model.safetensors", b"\xff" * 100, "not safetensors"),
    ("model.safetensors", b"\x02\0\0\0\0\0\0\0[]", "not safetensors"),
    ("evaluation.json", b"[" * 100_000, "not valid JSON"),
]


@pytest.mark.parametrize(("name", "content", "reason"), DAMAGES)
def test_damaged_files_are_counted_and_the_rest_is_read(
    name: str, content: bytes, reason: str, make_run: MakeRun, runs_folder: Path
) -> None:
    make_run("good", {5: 0.5})
    (make_run("bad", {5: 0.5}) / name).write_bytes(content)
    loaded = read_runs(runs_folder)
    assert loaded.complaint == f"skipped 1 damaged or foreign row: bad/{name} ({reason})"
    kept = ["bad", "good"] if name != "config.yaml" else ["good"]  # without a config there is no telling what was run
    assert sorted(record.id for record in loaded.records) == kept
    assert len(Database(loaded).select().rows) == len(kept)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("model.layers", "two", "of another version: model.layers is 'two'"),
        ("model.dropout", True, "of another version: model.dropout is True"),
        ("seeds", {"weights": 1, "data": 2}, "of another version: no seeds.sampling"),
        ("encoding", "fire", "of another version: no encoding.kind"),
        ("also", 3, "of another version: also is no list of pairs"),
        ("model.dropout", float("nan"), "of another version: Out of range float values are not JSON compliant"),
    ],
)
def test_configs_of_other_versions_are_skipped_with_the_reason(
    key: str, value: object, reason: str, make_run: MakeRun, runs_folder: Path
) -> None:
    make_run("other", {5: 0.5}, {key: value})
    loaded = read_runs(runs_folder)
    assert not loaded.records and reason in str(loaded.complaint)


def test_a_setting_that_an_older_version_lacked_is_missing_not_fatal(make_run: MakeRun, runs_folder: Path) -> None:
    folder = make_run("old", {5: 0.5})
    config = yaml.safe_load((folder / "config.yaml").read_text())
    del config["format"]["spaces"], config["model"]["mask"], config["also"]
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    (record,) = read_runs(runs_folder).records
    assert record.row["spaces"] is None and record.row["mask"] is None and record.row["hints"] == 32


def test_half_written_and_mistaken_rows_are_counted_one_by_one(make_run: MakeRun, runs_folder: Path) -> None:
    folder = make_run("a", {5: 0.5, 10: 0.25})
    with open(folder / "metrics.jsonl", "a") as file:
        file.write('{"loss": 1.0}\n[1]\n{"step": 30, "loss": NaN}\n\n{"step": 40, "lo')
    rows = json.loads((folder / "evaluation.json").read_text())
    bad = [rows[0] | {"exact_match": 1.5}, {"digits": 3}, "x", rows[1] | {"digits": 15, "exact_match": 0.125}]
    (folder / "evaluation.json").write_text(json.dumps(rows + bad))
    loaded = read_runs(runs_folder)
    assert loaded.complaint == (
        "skipped 6 damaged or foreign rows: "
        "a/metrics.jsonl (2 rows: no step), a/metrics.jsonl (1 row: not valid JSON), "
        "a/evaluation.json (2 rows: no exact_match), a/evaluation.json (1 row: no digits)"
    )
    (record,) = loaded.records
    assert record.scores == {5: 0.5, 10: 0.25, 15: 0.125}
    assert record.row["final_loss"] == "NaN" and record.row["step"] == 30
    database = Database(loaded)
    (found,) = database.query(
        "select isnan(final_loss), (select count(*) from metrics where isnan(loss)) from runs"
    ).rows
    assert found == (True, 1)


def test_files_cut_short_anywhere_stop_nothing(make_run: MakeRun, runs_folder: Path) -> None:
    """Every file of a run, cut at twenty places; eighty runs in all, and one that is whole."""
    make_run("whole", {5: 0.5, 10: 0.25})
    for name in ("config.yaml", "status.json", "metrics.jsonl", "evaluation.json"):
        content = (runs_folder / "whole" / name).read_bytes()
        for part in range(20):
            (make_run(f"{part}{name}", {5: 0.5}) / name).write_bytes(content[: len(content) * part // 20])
    loaded = read_runs(runs_folder)
    found = {row["id"]: row for row in Database(loaded).select().dicts()}
    assert found["whole"]["exact_match_10"] == 0.25
    assert len(found) >= 1 + 60 and "damaged or foreign rows" in str(loaded.complaint)
    assert {row["state"] for row in found.values()} == {"finished", "unknown"}


def test_foreign_things_in_the_folder_do_no_harm(make_run: MakeRun, runs_folder: Path) -> None:
    make_run("good", {5: 0.5})
    (runs_folder / "notes").mkdir()
    (runs_folder / ".hidden").mkdir()
    (runs_folder / "quickstart.png").write_bytes(b"png")
    (runs_folder / "evil").mkdir()
    (runs_folder / "evil" / "config.yaml").mkdir()
    loaded = read_runs(runs_folder)
    assert [record.id for record in loaded.records] == ["good"]
    assert loaded.complaint == (
        "skipped 2 damaged or foreign rows: evil/config.yaml (Is a directory), notes (no config.yaml: not a run)"
    )


def test_names_and_numbers_that_the_database_cannot_take_stop_nothing(make_run: MakeRun, runs_folder: Path) -> None:
    make_run("good", {5: 0.5})
    make_run("half", {5: 0.5}, message="\ud800")  # half a character
    make_run(os.fsdecode(b"n\xff"), {5: 0.5})
    folder = make_run("large", {5: 0.5}, step=10**30, time=1e300)
    with open(folder / "metrics.jsonl", "a") as file:
        file.write(f'{{"step": 30, "loss": 1e999, "tokens": {10**400}, "Step": 1, "": 2, "x y": 3, "note": "odd"}}\n')
    loaded = read_runs(runs_folder)
    database = Database(loaded)
    ids = [row[0] for row in database.select(columns=["id"]).rows]
    assert {"good", "large"} <= set(ids) and "half" not in ids
    assert "half (1 row: no row of the table runs)" in str(loaded.complaint)
    str(loaded.complaint).encode()  # can be printed
    assert database.query("select final_loss from runs where id = 'large'").rows == [(float("inf"),)]
    assert database.query("select note from metrics where step = 30").rows == [("odd",)]


def test_many_skipped_rows_make_a_short_sentence(runs_folder: Path) -> None:
    for number in range(9):
        (runs_folder / f"x{number}").mkdir(parents=True)
    complaint = str(read_runs(runs_folder).complaint)
    assert complaint.startswith("skipped 9 damaged or foreign rows: x0 (") and complaint.endswith(", and 4 more")


def test_runs_come_in_the_order_in_which_they_began(make_run: MakeRun, runs_folder: Path) -> None:
    for name, time in (("c", 1000), ("a", 3000), ("b", 2000)):
        folder = make_run(name, {5: 0.5}, time=time + 600)
        os.utime(folder / "config.yaml", (time, time))
    records = read_runs(runs_folder).records
    assert [record.id for record in records] == ["c", "b", "a"]
    assert [record.row["minutes"] for record in records] == [10, 10, 10]


def test_a_copied_run_has_no_start_that_it_did_not_have(make_run: MakeRun, runs_folder: Path) -> None:
    make_run("copied", {5: 0.5}, time=1000)
    (record,) = read_runs(runs_folder).records
    assert record.row["started"] is None and record.row["minutes"] is None and record.row["ended"] is not None
