"""Sweeps whose workers and drivers are killed, on both engines: each trial is done once and ends with the same bits."""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lengthlab.config.schema import Config
from lengthlab.runs.run import Run
from lengthlab.training.checkpoint import saved_steps
from lengthlab.training.loop import Trainer, Watcher

DRIVER = Path(__file__).with_name("driver.py")
CLUSTER = Path(__file__).with_name("cluster.py")
PATIENCE = 300  # seconds; only a test that would never end gets there
LONG = ["training.steps=150", "training.checkpoint_every=10"]
TRIALS = {
    "quick": ["training.steps=10"],
    "long": LONG,
    "diverging": ["training.optimizer={kind: adamw, rate: 1e30}", "training.clip=0"],
}


@contextlib.contextmanager
def sweep(trials: dict[str, list[str]], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A sweep in a process of its own; killed at the end if it is still there."""
    process = subprocess.Popen(
        [sys.executable, str(DRIVER), json.dumps({"trials": trials, **options})],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until(condition: Callable[[], object], process: subprocess.Popen[str]) -> None:
    """Wait for a condition while a process lives."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def read_until(process: subprocess.Popen[str], last: str) -> list[str]:
    """The lines that a process writes to standard error, up to one; by the byte, so that the rest is left to others."""
    assert process.stderr is not None
    text = b"\n"
    while not text.endswith(f"\n{last}\n".encode()):
        assert select.select([process.stderr], [], [], PATIENCE)[0], text
        byte = os.read(process.stderr.fileno(), 1)
        assert byte, text
        text += byte
    return text.decode().splitlines()[1:]


def trainer_of(run: Run) -> int:
    """The number of the process that began last to train a run."""
    return int(run.starts[-1]["by"].split()[1])


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def got_somewhere(run: Run, starts: int) -> bool:
    """Whether the run was begun so many times and has made a checkpoint since."""
    begun = run.starts
    return len(begun) >= starts and (saved_steps(run.checkpoints) or [0])[-1] > begun[-1]["after_step"]


def content(run: Run) -> dict[str, bytes]:
    names = ("model.safetensors", "metrics.jsonl", "evaluation.json", "config.yaml")
    return {name: (run.path / name).read_bytes() for name in names}


def undisturbed(config: Config, folder: Path) -> dict[str, bytes]:
    run = Run(folder / config.id)
    Trainer(config, run, Watcher()).train()
    return content(run)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "ray"])
def test_killed_sweeps_resume_and_do_each_trial_once(
    engine: str, smoke: Callable[..., Config], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    quick, long = Run.of(smoke(*TRIALS["quick"])), Run.of(smoke(*LONG))
    fails = engine == "local"  # what becomes of a failing trial is the same code for both; here it is a fork
    trials = TRIALS if fails else {label: TRIALS[label] for label in ("quick", "long")}
    stops = int(engine == "local")  # with Ray it is another test, on a cluster that is there already
    if stops:
        stop_by_ctrl_c({"long": LONG}, long)

    # The driver is killed when one trial is finished and another is on its way.
    with sweep(trials, engine=engine, workers=2) as driver:
        until(lambda: got_somewhere(long, stops + 1), driver)
        orphan = trainer_of(long)
        os.kill(orphan, signal.SIGSTOP)  # or it may get to its end before anything else has happened
        until(lambda: quick.status.get("state") == "finished", driver)
        left = [ray_settings(driver.pid)["RAY_AUTH_TOKEN_PATH"]] if engine == "ray" else []
        nursery = parent_of(orphan)
        driver.kill()
    for token in left:  # nobody was there to remove it
        shutil.rmtree(Path(token).parent)
    before = {path: path.stat().st_mtime_ns for path in quick.path.rglob("*")}

    token = Path()
    # The same command resumes; the worker is killed: Ray's own, or the process that trains.
    with sweep(trials, engine=engine, workers=2) as driver:
        until(lambda: not is_alive(nursery), driver)
        with contextlib.suppress(ProcessLookupError):
            os.kill(orphan, signal.SIGCONT)
        until(lambda: got_somewhere(long, stops + 2), driver)
        assert not is_alive(orphan)
        trainer = trainer_of(long)
        os.kill(trainer, signal.SIGSTOP)
        said = read_until(driver, f"long: resuming after step {long.starts[-1]['after_step']} of 150") if stops else []
        if engine == "ray":
            token = check_that_ray_keeps_to_itself(driver.pid)
        os.kill(parent_of(parent_of(trainer)) if engine == "ray" else trainer, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(trainer, signal.SIGCONT)
        out, err = driver.communicate(timeout=PATIENCE)
        said += err.splitlines()
    record_property("kills", 2)

    assert driver.returncode == int(fails), err
    outcomes = json.loads(out)
    assert outcomes["quick"] == ["finished", "", 0]
    assert outcomes["long"] == ["finished", "", 2 if engine == "local" else 1]  # a lost worker is Ray's to replace
    if fails:
        state, error, attempts = outcomes["diverging"]
        assert (state, attempts) == ("failed", 2) and error.startswith("the loss became nan at step")
        assert said.count(f"diverging: {error}; will be tried again") == 1
        assert f"diverging: failed (2 attempts): {error}" in said
    assert ("long: killed by SIGKILL; will be tried again" in said) == (engine == "local")
    total = f"2 of {len(trials)} finished{', 1 failed' if fails else ''}; "
    assert said[-1].startswith(total) and "left" not in said[-1]

    assert {path: path.stat().st_mtime_ns for path in quick.path.rglob("*")} == before
    assert [start["after_step"] for start in quick.starts] == [0]
    begun = [start["after_step"] for start in long.starts]
    assert begun[0] == 0 and len(begun) == stops + 3 and begun == sorted({*begun})
    assert not is_alive(trainer_of(long)) and not is_alive(nursery)
    assert engine == "local" or not token.parent.exists()
    assert content(long) == undisturbed(smoke(*LONG), tmp_path / "undisturbed")


def check_that_ray_keeps_to_itself(driver: int) -> Path:
    """Every socket of the cluster listens on the loopback address, and only its user reads its token; where that is."""
    family = descendants(driver)
    assert len(family) > 3
    tables = [line.split() for kind in ("tcp", "tcp6") for line in Path(f"/proc/net/{kind}").read_text().splitlines()]
    addresses = {row[9]: row[1].rpartition(":")[0] for row in tables if row[3] == "0A"}  # by inode, if listening
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    listening = [addresses[inode] for pid in family for inode in sockets(pid) if inode in addresses]
    assert len(listening) > 3 and set(listening) <= loopback

    settings = ray_settings(driver)
    token = Path(settings["RAY_AUTH_TOKEN_PATH"])
    assert settings["RAY_AUTH_MODE"] == "token" and settings["RAY_USAGE_STATS_ENABLED"] == "0"
    assert len(token.read_text()) == 64
    assert (token.stat().st_mode & 0o777, token.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    return token


def ray_settings(driver: int) -> dict[str, str]:
    """What the processes of a cluster find in their environment."""
    settings: dict[str, str] = {}
    for pid in descendants(driver):
        try:
            entries = Path(f"/proc/{pid}/environ").read_text().split("\0")
        except (ProcessLookupError, FileNotFoundError):  # it has ended meanwhile
            continue
        settings |= {name: value for name, _, value in (entry.partition("=") for entry in entries)}
    return settings


def descendants(ancestor: int) -> set[int]:
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and is_alive(int(folder.name)):
            parents[int(folder.name)] = parent_of(int(folder.name))
    found = {ancestor}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {ancestor}


def sockets(pid: int) -> set[str]:
    """Inodes of the sockets that a process holds."""
    links = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        for file in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                links.append(str(file.readlink()))
    return {link[len("socket:[") : -1] for link in links if link.startswith("socket:")}


def stop_by_ctrl_c(trials: dict[str, list[str]], run: Run, **options: Any) -> None:
    """Ctrl-C while the first trial, whose run this is, is on its way: it stops after a checkpoint."""
    with sweep(trials, **options) as driver:
        until(lambda: got_somewhere(run, 1), driver)
        driver.send_signal(signal.SIGINT)
        _, err = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 130
    assert f"interrupted; 0 of {len(trials)} runs are finished" in err.splitlines()
    assert run.status["state"] == "interrupted"
    assert saved_steps(run.checkpoints)[-1] == run.status["step"]
    assert not is_alive(trainer_of(run))


def go_on(trials: dict[str, list[str]], run: Run, **options: Any) -> None:
    """The same command again."""
    with sweep(trials, **options) as driver:
        out, err = driver.communicate(timeout=PATIENCE)
    assert driver.returncode == 0, err
    assert json.loads(out) == {label: ["finished", "", 1] for label in trials}
    assert f"long: resuming after step {run.starts[-1]['after_step']} of 150" in err.splitlines()


@pytest.mark.slow
def test_on_a_cluster_trials_share_gpus_and_ctrl_c_reaches_them(smoke: Callable[..., Config], tmp_path: Path) -> None:
    """The cluster has one GPU in its books, of which every trial asks for more than half: one at a time."""
    trials = {"long": LONG, "short": ["training.steps=10"]}
    long, short = (Run.of(smoke(*overrides)) for overrides in trials.values())
    command = [sys.executable, str(CLUSTER), str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as cluster:
        assert cluster.stdout is not None
        connection = json.loads(cluster.stdout.readline())
        with pytest.MonkeyPatch.context() as patch:
            for name, value in connection["environment"].items():
                patch.setenv(name, value)
            options = {"engine": "ray", "address": connection["address"], "gpus": 0.6}
            stop_by_ctrl_c(trials, long, **options)
            go_on(trials, long, **options)
        cluster.communicate()
    assert cluster.returncode == 0
    assert long.status["time"] < short.starts[0]["time"] or short.status["time"] < long.starts[-1]["time"]
