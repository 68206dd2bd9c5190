"""What a sweep does with trials, apart from being killed, and what it shows."""

import io
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lengthlab.cli.console import Screen
from lengthlab.cli.progress import LineView, LiveView
from lengthlab.config.load import load_config
from lengthlab.config.presets import recipe_names
from lengthlab.config.schema import Config
from lengthlab.errors import UserError
from lengthlab.runs.reader import METRICS
from lengthlab.runs.run import Run
from lengthlab.sweep import child, ray_engine
from lengthlab.sweep.progress import Tail, TrialProgress
from lengthlab.sweep.run import run_trials
from lengthlab.sweep.trial import SweepOptions, Trial


def quiet() -> LineView:
    return LineView(Screen(file=io.StringIO()))


@pytest.mark.slow
def test_equal_configs_are_trained_once_and_a_mistake_is_not_tried_again(smoke: Callable[..., Config]) -> None:
    good, in_the_way = smoke(), smoke("seed=9")
    run = Run.of(good)
    run.path.parent.mkdir()
    Run.of(in_the_way).path.write_text("a file where a folder should be")
    trials = [Trial("one", good), Trial("file", in_the_way), Trial("the same", good)]
    screen = io.StringIO()
    view = LiveView(Screen(file=screen, force_terminal=True, width=200, height=20, color_system=None))
    outcomes = run_trials(trials, SweepOptions(workers=2, retries=3), view)
    assert [(one.trial.label, one.state, one.attempts) for one in outcomes] == [
        ("one", "finished", 1),
        ("file", "failed", 1),
        ("the same", "finished", 1),
    ]
    assert [start["after_step"] for start in run.starts] == [0]
    shown = screen.getvalue()
    assert "1 of 2 finished, 1 failed" in shown
    assert shown.splitlines()[-1].endswith(f"file: failed (1 attempt): {Run.of(in_the_way).path}: File exists")

    again = run_trials(trials[:1], SweepOptions(engine="ray"), quiet())  # nothing to do: Ray is not even started
    assert (again[0].state, again[0].attempts, len(run.starts)) == ("finished", 0, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "--workers: at least 1"),
        ({"retries": -1}, "--retries: at least 0"),
        ({"engine": "ray", "gpus": 1.5}, "--gpus: a fraction up to 1, or a whole number"),
        ({"gpus": 0.5}, "--gpus: only with --engine ray"),
        ({"address": "10.0.0.1:6379"}, "--address: only with --engine ray"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        SweepOptions(**options)


def test_without_ray_one_sentence_says_how_to_get_it(
    smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch, runs_folder: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    before = dict(os.environ)
    with pytest.raises(UserError, match=r"pip install 'lengthlab\[ray\]'"):
        run_trials([Trial("one", smoke())], SweepOptions(engine="ray"), quiet())
    assert dict(os.environ) == before and not runs_folder.exists()


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:1", "--address 127.0.0.1:1: cannot connect .*refused"),
        ("127.0.0.1:70000", "--address 127.0.0.1:70000: cannot connect"),
        ("local", "--address local: HOST:PORT of a Ray cluster, or auto"),
        ("ray://127.0.0.1:10001", "HOST:PORT of a Ray cluster, or auto"),
    ],
)
def test_a_cluster_that_is_not_there_is_named_at_once(
    address: str, message: str, smoke: Callable[..., Config], runs_folder: Path
) -> None:
    options = SweepOptions(engine="ray", address=address)
    with pytest.raises(UserError, match=message):
        run_trials([Trial("one", smoke())], options, quiet())
    assert not runs_folder.exists()


def test_a_child_waits_for_the_process_that_holds_its_run(
    smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is then finished, by that process: nothing is left to do."""
    run = Run.of(smoke())
    held = run.lock()
    held.__enter__()
    slept: list[float] = []

    def other_process_finishes(seconds: float) -> None:
        slept.append(seconds)
        run.set_status("finished")
        held.__exit__(None, None, None)

    monkeypatch.setattr(time, "sleep", other_process_finishes)
    child.train_job(Trial("one", smoke()).job)
    assert len(slept) == 1 and run.starts == []


def test_a_killed_nursery_is_an_ended_child_and_the_next_child_gets_another(
    smoke: Callable[..., Config], runs_folder: Path
) -> None:
    nursery = child.Nursery()
    for _ in range(2):
        one = nursery.start(Trial("one", smoke()).job, runs_folder)
        assert nursery.process is not None
        nursery.process.kill()  # before it has imported anything
        assert one.close() == (1, "ended without a message")
        nursery.process.wait()
    nursery.close()
    assert not runs_folder.exists()


def test_what_a_killed_driver_left_is_removed_by_the_next() -> None:
    with subprocess.Popen(["true"]) as process:
        pass
    dead, alive, odd = (Path(f"/tmp/lab-{owner}-test{os.getpid()}") for owner in (process.pid, os.getpid(), 10**30))
    try:
        for folder in (dead, alive, odd):
            folder.mkdir()
            (folder / "token").touch()
        with ray_engine.private_folder() as mine:
            assert Path(mine).stat().st_mode & 0o077 == 0
            assert [folder.exists() for folder in (dead, alive, odd)] == [False, True, True]
        assert not Path(mine).exists()
    finally:
        for folder in (dead, alive, odd):
            shutil.rmtree(folder, ignore_errors=True)


def test_ray_workers_start_without_torch() -> None:
    code = "import sys, lengthlab.sweep.child; sys.exit('torch' in sys.modules or 'pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_new_lines_of_a_file_that_grows_and_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    tail = Tail(file, METRICS)
    assert tail.new_lines() == []
    file.write_text('{"step":1}\n{"step":2}\n{"st')
    assert tail.new_lines() == [{"step": 1}, {"step": 2}]
    with open(file, "a") as more:
        more.write('ep":3}\n{"step":\n[3]\n')  # the last two are damaged and left out
    assert tail.new_lines() == [{"step": 3}]
    assert tail.new_lines() == []
    other = tmp_path / "other"
    other.write_text('{"step":1}\n{"step":2}\n{"step":3}\n{"step":4}\n')
    other.replace(file)
    assert [line["step"] for line in tail.new_lines()] == [1, 2, 3, 4]


def test_progress_is_read_from_the_run_folder(smoke: Callable[..., Config]) -> None:
    config = smoke()
    run = Run.of(config)
    run.begin(config, {})
    run.log({"step": 5, "loss": 3.0})
    one = TrialProgress(Trial("one", config))
    one.look()
    assert (one.state, one.step) == ("waiting", 5)  # what it finds was left by an earlier process
    run.resume(config, 0, {})
    one.look()
    assert one.state == "training" and [line["step"] for line in one.news] == [5]
    run.log({"step": 5, "loss": 3.0})
    run.log({"step": 5, "exact_match": {"2": 0.25, "4": 0.0}})
    one.look()
    assert (one.step, one.loss, one.exact_match) == (5, 3.0, {"2": [0.25], "4": [0.0]})
    assert [sorted(line) for line in one.news] == [["loss", "step"], ["exact_match", "step"]]  # the repeated line once
    run.log({"step": 20, "loss": 2.5})
    run.log_speed(20, 1234.5)
    one.look()
    assert (one.state, one.speed) == ("testing", 1234.5)
    one.end("waiting", "killed by SIGKILL")
    one.look()
    assert one.state == "waiting"  # nobody could write that it was killed


@pytest.mark.parametrize("recipe", recipe_names())
def test_a_config_survives_the_way_to_the_child(recipe: str) -> None:
    config = load_config(recipe)
    assert Config.model_validate(json.loads(json.dumps(config.model_dump(mode="json")))) == config
