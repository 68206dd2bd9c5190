"""A run folder may come from anywhere: pipes that nobody writes to, links to other people's files, folders as files."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lengthlab.runs.run import Run
from lengthlab.runs.seal import digest_of

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(trained: Path, runs_folder: Path) -> Run:
    """A finished run, to be tampered with."""
    shutil.copytree(trained, runs_folder / trained.name)
    return Run(runs_folder / trained.name)


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    """A folder of somebody's files."""
    folder = tmp_path / "precious"
    folder.mkdir()
    for name in ("file", "model.safetensors", "00000099.safetensors", ".other.7.part", "last.jsonl"):
        (folder / name).write_text(name)
    return folder


def remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


@pytest.mark.parametrize("name", ["metrics.jsonl", "speed.jsonl", "model.safetensors", "lock", "config.yaml"])
def test_no_command_waits_for_a_pipe(name: str, run: Run, lengthlab: Command) -> None:
    remove(run.path / name)
    os.mkfifo(run.path / name)
    for command in (["runs"], ["doctor", run.id], ["evaluate", run.id, "--trust"], ["train", "--resume", run.id]):
        status, _, err = lengthlab(*command)
        assert status in (0, 1, 2) and "Traceback" not in err


@pytest.mark.parametrize("name", ["lock", "starts.jsonl", "metrics.jsonl", "status.json", "examples", "checkpoints"])
def test_nothing_is_changed_where_a_link_leads(name: str, run: Run, precious: Path, lengthlab: Command) -> None:
    inside = (run.path / name).is_dir()
    before = {file.name: file.read_text() for file in precious.iterdir()}
    for command in (
        ["evaluate", run.id, "--examples", "20"],
        ["train", "--resume", run.id],
        ["train", "--resume", run.id, "--fresh"],
    ):
        remove(run.path / name)
        (run.path / name).symlink_to(precious if inside else precious / "file")
        (run.path / "evaluation.json").write_text("[")  # so that there is something to do
        lengthlab(*command)
        assert {file.name: file.read_text() for file in precious.iterdir()} == before, command


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/etc/passwd")])
def test_what_is_no_file_of_answers_does_not_keep_a_run_from_being_tested(
    make: Callable[[Path], object], run: Run, lengthlab: Command
) -> None:
    """It is replaced, but for a folder: then the answers are not kept."""
    remove(run.examples / "last.jsonl")
    make(run.examples / "last.jsonl")
    status, _, err = lengthlab("evaluate", run.id, "--digits", "1")
    assert status == 0 and "last.jsonl" in err and "tested again" in err
    assert (run.examples / "last.jsonl").is_dir() == ("not kept" in err)


def test_a_folder_in_place_of_a_log_is_mended(run: Run, lengthlab: Command) -> None:
    for extra in ([], ["--fresh"]):
        remove(run.path / "starts.jsonl")
        (run.path / "starts.jsonl").mkdir()
        assert lengthlab("train", "--resume", run.id, *extra)[0] == 0 and run.starts


def test_a_new_start_changes_nothing_where_links_lead(run: Run, precious: Path, lengthlab: Command) -> None:
    before = {file.name: file.read_text() for file in precious.iterdir()}
    for name in ("starts.jsonl", "metrics.jsonl", "status.json", "examples", "checkpoints"):
        inside = (run.path / name).is_dir()
        remove(run.path / name)
        (run.path / name).symlink_to(precious if inside else precious / "file")
    status, _, err = lengthlab("train", "--resume", run.id, "--fresh")
    assert status == 0 and not run.damage(), err
    assert {file.name: file.read_text() for file in precious.iterdir()} == before


def test_the_doctor_names_what_is_no_folder(run: Run, precious: Path, lengthlab: Command) -> None:
    shutil.rmtree(run.examples)
    run.examples.symlink_to(precious)
    status, out, _ = lengthlab("doctor", run.id)
    assert status == 1 and "examples: not a folder" in out


def test_a_run_s_whole_name_is_that_run(run: Run, lengthlab: Command) -> None:
    shutil.copytree(run.path, run.path.with_name(f"{run.id}-copy"))
    assert lengthlab("config", run.id)[0] == 0 and Run.find(run.id).path == run.path


def test_a_file_that_is_far_too_large_is_not_read(run: Run, lengthlab: Command) -> None:
    """It takes a minute to read; it has a hole, and takes no place."""
    with open(run.path / "metrics.jsonl", "r+b") as file:
        file.truncate(2**36)
    assert digest_of(run.path / "metrics.jsonl") == "unreadable"
    _, _, err = lengthlab("runs")
    assert "skipped 1 damaged or foreign row" in err and "metrics.jsonl (larger than 1024 MiB)" in err
    assert lengthlab("doctor", run.id)[0] == 1
