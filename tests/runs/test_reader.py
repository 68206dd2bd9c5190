"""Run folders become records; what is damaged is skipped and counted, and never stops the rest."""

import contextlib
import json
import os
import random
import shutil
from collections.abc import Callable
from datetime import datetime
from math import isnan
from pathlib import Path
from statistics import median

import pytest
import yaml

from lengthlab.config.schema import Config
from lengthlab.errors import UserError
from lengthlab.runs.database import Database
from lengthlab.runs.reader import read_runs
from lengthlab.runs.run import Run
from lengthlab.training.loop import Trainer, Watcher

MakeRun = Callable[..., Path]


def test_a_real_run_is_read_as_it_was_trained(smoke: Callable[..., Config], runs_folder: Path) -> None:
    config = smoke("seeds.data=7", "evaluation.weights=[best, last]", "also=[{positions: sequential, encoding: rope}]")
    run = Run.of(config)
    trainer = Trainer(config, run, Watcher(), recipe="smoke")
    trainer.train()
    loaded = read_runs(runs_folder)
    (record,) = loaded.records
    assert loaded.complaint is None
    row = record.row
    assert row["id"] == config.id and row["state"] == "finished" and row["step"] == row["steps"] == 20
    assert row["parameters"] == sum(weights.numel() for weights in trainer.model.parameters())
    assert (row["seed_weights"], row["seed_data"], record.seed) == (0, 7, "0/7/0")
    assert (row["encoding"], row["positions"]) == ("fire + rope", "randomized + sequential")
    assert (row["trained_digits"], row["rate"], row["optimizer"]) == (3, 0.002, "muon")
    last = run.metrics[-2]
    assert (row["final_loss"], row["final_accuracy"], row["tokens"]) == (last["loss"], last["accuracy"], last["tokens"])
    assert row["seconds"] == pytest.approx(last["tokens"] / median(run.speed.values()), abs=0.05)
    assert row["started"] <= row["ended"] and row["machine"] and row["recipe"] == "smoke"
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


LAUGHS = b"\n".join(
    [b"l0: &l0 x", *(b"l%d: &l%d [%s]" % (n, n, b", ".join([b"*l%d" % (n - 1)] * 9)) for n in range(1, 12))]
)
DAMAGES: list[tuple[str, bytes, str]] = [
    ("config.yaml", b"task: {kind: addition", "not valid YAML: did not find expected ',' or '}'"),
    ("config.yaml", b"\xff\xfe\x00", "not text"),
    ("config.yaml", b"", "no config"),
    ("config.yaml", b"- a list", "no config"),
    ("config.yaml", b"when: 2026-13-45", "of another version: no task.kind"),
    ("config.yaml", b"a: !!bool abc", "not valid YAML: a value cannot be read ('abc')"),
    ("config.yaml", b"a: !!timestamp abc", "of another version: no task.kind"),
    (
        "config.yaml",
        b"a: !!int abc",
        "not valid YAML: a value cannot be read (invalid literal for int() with base 10: 'abc')",
    ),
    ("config.yaml", b"a: 0x_", "not valid YAML: a value cannot be read (invalid literal for int() with base 16: '')"),
    ("config.yaml", b"a: " + b"9" * 5000, "not valid YAML: a number of 5,000 characters"),
    ("config.yaml", b"a: &a [*a]", "not valid YAML: *a repeats what is not there yet"),
    (
        "config.yaml",
        b"[" * 200_000,
        "not valid YAML: more than 50 lists or mappings within each other",
    ),
    ("config.yaml", b"#" * (2**24 + 1), "larger than 16 MiB"),
    (
        "config.yaml",
        b"".join(
            b"l%d: &l%d [%s]\n" % (n, n, b", ".join([b"*l%d" % (n - 1)] * 10 if n else [b"x"])) for n in range(12)
        ),
        "not valid YAML: more than 100,000 values",
    ),
    ("config.yaml", b"task: addition\nseeds: {weights: 1}", "of another version: no task.kind"),
    ("status.json", b'{"state": "finis', "not valid JSON"),
    ("status.json", b"[1, 2]", "no status"),
    ("evaluation.json", b'[{"digits": 1, "exact_mat', "not valid JSON"),
    ("evaluation.json", b"{}", "no rows"),
    ("metrics.jsonl", b"\x80\x81\n", "1 row: not valid JSON"),
    ("model.safetensors", b"", "not safetensors"),
    ("model.safetensors", b"\xff" * 100, "not safetensors"),
    ("model.safetensors", b"\x02\0\0\0\0\0\0\0[]", "not safetensors"),
    ("model.safetensors", (200_000).to_bytes(8, "little") + b"[" * 200_000, "not safetensors"),
    ("model.safetensors", b'\x14\0\0\0\0\0\0\0{"a":{"shape":[-1e3]}}'[:28], "not safetensors"),
    ("evaluation.json", b"[" * 100_000, "not valid JSON"),
    ("status.json", b'{"state": ' + b"[" * 100_000, "not valid JSON"),
    ("status.json", b"9" * 5000, "not valid JSON"),
    ("environment.json", b"{", "not valid JSON"),
    ("speed.jsonl", b"\x80\n", "1 row: not valid JSON"),
    ("starts.jsonl", b'{"time": "noon", "after_step": 0}\n', "1 row: no time"),
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
        ("also", 3, "of another version: also is not a list of pairs"),
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
        "a/metrics.jsonl (2 rows: no step), a/metrics.jsonl (1 row: cut short), "
        "a/evaluation.json (2 rows: no exact_match), a/evaluation.json (1 row: no digits)"
    )
    (record,) = loaded.records
    assert record.scores == {5: 0.5, 10: 0.25, 15: 0.125}
    assert isnan(record.row["final_loss"]) and record.row["step"] == 30
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
        "skipped 2 damaged or foreign rows: evil/config.yaml (a folder), notes (no config.yaml: not a run)"
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
    assert "half (1 row: not a row of the table runs)" in str(loaded.complaint)
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
        make_run(name, {5: 0.5}, began=time)
    records = read_runs(runs_folder).records
    assert [record.id for record in records] == ["c", "b", "a"]
    assert {record.row["seconds"] for record in records} == {90.0}  # 1800 tokens at 20 a second


def test_a_copied_run_keeps_its_times(make_run: MakeRun, runs_folder: Path) -> None:
    folder = make_run("original", {5: 0.5}, began=1000)
    with open(folder / "starts.jsonl", "a") as file:  # resumed later, and long before that another attempt
        file.write('{"time": 1050, "after_step": 10}\n')
    shutil.copytree(folder, runs_folder / "copied", copy_function=shutil.copyfile)
    original, copied = (record.row for record in sorted(read_runs(runs_folder).records, key=lambda r: r.id)[::-1])
    assert (copied["started"], copied["ended"]) == (original["started"], original["ended"])
    started, ended = (datetime.fromisoformat(copied[name]).timestamp() for name in ("started", "ended"))
    assert (started, ended) == (1000, 1090)


def test_traps_for_a_reader_are_named_at_once(make_run: MakeRun, runs_folder: Path) -> None:
    """A pipe that nobody writes to, a link out of the folder, a folder in place of a file."""
    make_run("good", {5: 0.5})
    piped, linked = make_run("piped", {5: 0.5}), make_run("linked", {5: 0.5})
    (piped / "status.json").unlink()
    os.mkfifo(piped / "status.json")
    (linked / "metrics.jsonl").unlink()
    (linked / "metrics.jsonl").symlink_to(runs_folder / "good" / "metrics.jsonl")
    (make_run("nested", {5: 0.5}, state="failed") / "environment.json").mkdir()
    loaded = read_runs(runs_folder)
    assert loaded.complaint == (
        "skipped 3 damaged or foreign rows: linked/metrics.jsonl (a symbolic link), "
        "nested/environment.json (a folder), piped/status.json (not a regular file)"
    )
    assert len(loaded.records) == 4


def test_a_config_that_was_edited_after_training_is_named(smoke: Callable[..., Config], runs_folder: Path) -> None:
    run = Run.of(smoke())
    run.begin(smoke(), {})
    assert read_runs(runs_folder).complaint is None and run.config == smoke()
    file = run.path / "config.yaml"
    file.write_text(file.read_text().replace("order: reversed", "order: standard"))
    assert str(read_runs(runs_folder).complaint).endswith("config.yaml (changed since training began)")
    with pytest.raises(UserError, match=r"config\.yaml: damaged \(changed since training began\); put"):
        _ = run.config


NAMES = ("config.yaml", "status.json", "metrics.jsonl", "speed.jsonl", "starts.jsonl", "evaluation.json")


@pytest.mark.parametrize("name", [*NAMES, "environment.json", "model.safetensors"])
def test_any_flipped_bit_leaves_a_record_or_a_reason(name: str, smoke: Callable[..., Config], tmp_path: Path) -> None:
    """Every property of a run and every table either reads or says in one sentence what is damaged.

    Thirty copies of a run, one bit flipped in each.
    """
    run = Run(tmp_path / "r")
    run.begin(smoke(), {"cpu": "abacus"})
    run.log({"step": 1, "loss": 0.5, "accuracy": 0.25, "examples": 8, "tokens": 80})
    run.log_speed(1, 40.0)
    run.save_evaluation([{"digits": 1, "examples": 8, "exact_match": 0.5, "weights": "last", "chain": 0}])
    run.weights.write_bytes(b'\x1a\0\0\0\0\0\0\0{"a":{"shape":[2,3,4,5]}}' + bytes(480))
    sound = (run.path / name).read_bytes()
    copies = [Run(tmp_path / "runs" / f"r{number}") for number in range(30)]
    for copy, bit in zip(copies, random.Random(name).sample(range(8 * len(sound)), len(copies)), strict=True):
        shutil.copytree(run.path, copy.path)
        spoilt = bytearray(sound)
        spoilt[bit // 8] ^= 1 << bit % 8
        (copy.path / name).write_bytes(spoilt)
    loaded = read_runs(tmp_path / "runs")
    Database(loaded)
    told = {record.id for record in loaded.records} | {skipped.place.split("/")[0] for skipped in loaded.skipped}
    assert told == {copy.path.name for copy in copies}
    for copy in copies:
        for attribute in ("status", "metrics", "speed", "starts", "evaluation", "recipe"):
            with contextlib.suppress(UserError):
                getattr(copy, attribute)
        copy.set_status("running")
