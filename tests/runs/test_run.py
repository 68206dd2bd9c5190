"""Run folders: found by id, written whole, honest about their state."""

import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from lengthlab.config.schema import Config
from lengthlab.errors import UserError
from lengthlab.evaluation.load import load_model
from lengthlab.runs.files import append_line, read_lines, write_atomically
from lengthlab.runs.run import Run


def begin(config: Config) -> Run:
    run = Run.of(config)
    run.begin(config, {"cpu": "test"})
    return run


def test_runs_are_found_by_folder_or_the_beginning_of_their_id(smoke: Callable[..., Config]) -> None:
    run = begin(smoke())
    assert Run.find(str(run.path)).path == run.path
    assert Run.find(run.id).path == run.path
    assert Run.find(run.id[:4]).path == run.path


def test_the_command_that_resumes_names_a_run_so_that_it_is_found(runs_folder: Path, tmp_path: Path) -> None:
    assert Run(runs_folder / "aa11").resume_command == "lengthlab train --resume aa11"
    elsewhere = tmp_path / "my runs" / "aa11"
    assert Run(elsewhere).resume_command == f"lengthlab train --resume '{elsewhere}'"
    with pytest.raises(UserError, match=f"lengthlab train --resume '{elsewhere}' writes it anew"):
        _ = Run(elsewhere).config
    run = Run(elsewhere)
    run.path.mkdir(parents=True)
    run.set_status("interrupted")
    with pytest.raises(UserError, match=f"it is interrupted.; lengthlab train --resume '{elsewhere}' resumes it"):
        load_model(run)


def test_a_missing_run_names_the_nearest(smoke: Callable[..., Config]) -> None:
    with pytest.raises(UserError, match="there are none yet"):
        Run.find("abc")
    run = begin(smoke())
    with pytest.raises(UserError, match=f"did you mean {run.id}?"):
        Run.find(run.id[:-1] + "x")


def test_an_ambiguous_beginning_lists_the_candidates(runs_folder: Path) -> None:
    for name in ("aa11", "aa22"):
        (runs_folder / name).mkdir(parents=True)
        (runs_folder / name / "config.yaml").write_text("{}")
    with pytest.raises(UserError, match="aa11, aa22"):
        Run.find("aa")


def test_a_run_without_weights_says_so(smoke: Callable[..., Config]) -> None:
    with pytest.raises(UserError, match=r"has no model\.safetensors \(it is running\)"):
        load_model(begin(smoke()))


@pytest.mark.parametrize("content", [b"", b"not safetensors at all", b"\x80\x04\x95 a pickle"])
def test_foreign_weights_are_refused(content: bytes, smoke: Callable[..., Config]) -> None:
    run = begin(smoke())
    run.weights.write_bytes(content)
    with pytest.raises(UserError, match=r"model\.safetensors: (not the weights of this run|damaged)"):
        load_model(run)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "status.json"
    write_atomically(file, "old")

    def fail(descriptor: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(file, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["status.json"]
    assert file.read_text() == "old"


def test_a_new_start_leaves_alone_what_no_run_made(smoke: Callable[..., Config]) -> None:
    run = begin(smoke())
    run.checkpoints.mkdir()
    for name in ("thesis.tex", "model.safetensors", ".model.safetensors.17.part", "checkpoints/00000007.safetensors"):
        (run.path / name).write_text("x")
    (run.path / "mine").mkdir()
    begin(smoke())
    kept = {path.name for path in run.path.iterdir()}
    assert {"thesis.tex", "mine", "config.yaml", "status.json"} <= kept
    assert not kept & {"model.safetensors", ".model.safetensors.17.part", "checkpoints"}


def test_lines_are_appended_whole_or_not_at_all(tmp_path: Path) -> None:
    """The system itself refuses to let the file grow, in the middle of a line, as it does on a full disk."""
    file = tmp_path / "metrics.jsonl"
    append_line(file, {"step": 1})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            append_line(file, {"step": 2, "loss": 0.123456789})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    append_line(file, {"step": 3})
    assert read_lines(file) == [{"step": 1}, {"step": 3}]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    file.write_text('{"step": 1}\n{"step": \n{"step": 3}\n')
    with pytest.raises(UserError, match=r"metrics\.jsonl: damaged \(line 2: not valid JSON\); remove that line"):
        read_lines(file)


def test_a_line_cut_short_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    append_line(file, {"step": 1})
    append_line(file, {"step": 2})
    with open(file, "ab") as handle:
        handle.write(b'{"step": 3, "lo')
    assert read_lines(file) == [{"step": 1}, {"step": 2}]
    assert read_lines(tmp_path / "missing.jsonl") == []


def test_the_recipe_s_name_is_kept_and_moves_no_run(smoke: Callable[..., Config]) -> None:
    config = smoke()
    run = Run.of(config)
    run.begin(config, {}, recipe="my-recipe")
    run.resume(config, 0, {})
    run.set_status("finished")
    assert run.recipe == Run.find(run.id).status["recipe"] == "my-recipe" and run.id == config.id
    run.begin(config, {})
    assert run.recipe == ""


def test_a_new_start_removes_checkpoints_before_the_metrics_they_belong_to(
    smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that dies in between must not leave a checkpoint to resume from without its metrics."""
    run = begin(smoke())
    run.checkpoints.mkdir()
    run.log({"step": 1})

    def die(path: Path, missing_ok: bool = False) -> None:
        if path.parent == run.path and not path.name.endswith(".part"):
            raise KeyboardInterrupt

    monkeypatch.setattr(Path, "unlink", die)
    with pytest.raises(KeyboardInterrupt):
        run.begin(smoke(), {})
    assert not run.checkpoints.exists() and run.metrics == [{"step": 1}]


def test_a_damaged_status_is_named_and_the_next_one_written_over_it(smoke: Callable[..., Config]) -> None:
    run = begin(smoke())
    (run.path / "status.json").write_bytes(b'{"state": "runn')
    with pytest.raises(UserError, match=r"status\.json: damaged \(not valid JSON\); remove it, or train the run again"):
        _ = run.status
    run.set_status("failed", message="out of disk")
    assert (run.status["state"], run.status["message"]) == ("failed", "out of disk")


def test_scores_say_which_weights_they_belong_to(smoke: Callable[..., Config]) -> None:
    run = begin(smoke())
    rows = [{"digits": 1, "exact_match": 0.5, "weights": which} for which in ("best", "last")]
    run.save_evaluation(rows)
    assert run.evaluation == rows[:1] and run.evaluation_of("last") == rows[1:]
    run.save_evaluation([*rows, {"digits": 2, "weights": "last"}])
    with pytest.raises(UserError, match=r"evaluation\.json: damaged \(row 3: no exact_match\)"):
        _ = run.evaluation
