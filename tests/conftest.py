"""Shared fixtures. Every test runs with one torch thread and keeps its runs in a folder of its own.

What takes seconds to import is imported where it is used: the process that hands out the tests needs none of it.
"""

import atexit
import contextlib
import copy
import gc
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pytest
import yaml

from lengthlab.runs.seal import TRUST

if TYPE_CHECKING:
    from lengthlab.config.schema import Config

# Started in the background by a shell, tests would ignore Ctrl-C, and so would the commands that they press it for.
signal.signal(signal.SIGINT, signal.default_int_handler)
MakeRun = Callable[..., Path]
# Compiled code refers to the modules it was compiled for; it must not end up in the caches of the person who tests. The
# process that collects makes the folder; its workers inherit it, so that each kernel is compiled once.
if "PYTEST_XDIST_WORKER" not in os.environ:
    CACHE = tempfile.mkdtemp(prefix="lengthlab-compiled-")
    os.environ |= {"TORCHINDUCTOR_CACHE_DIR": CACHE, "LENGTHLAB_CACHE": CACHE}
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # or its compiler starts processes, each of which imports torch
    os.environ["TORCHINDUCTOR_VEC_ISA_OK"] = "1"  # or it compiles programs to see if what the processor says is true
    atexit.register(shutil.rmtree, CACHE, ignore_errors=True)
    # Tests write many small files; where there is room for them in memory, nobody waits for a disk.
    MEMORY = Path("/dev/shm")
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 2**31:
        FOLDERS = tempfile.mkdtemp(prefix="lengthlab-tests-", dir=MEMORY)
        os.environ["PYTEST_DEBUG_TEMPROOT"] = FOLDERS  # to keep what a test has left: --basetemp
        atexit.register(shutil.rmtree, FOLDERS, ignore_errors=True)
else:  # each worker begins with another library: what one has imported is compiled for all
    LARGE = ["torch", "scipy.stats", "matplotlib.pyplot"]
    first = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw")) % len(LARGE)
    for library in LARGE[first:] + LARGE[:first]:
        import_module(library)

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = (
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-quic", "--disable-extensions"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
SMOKE = str(Path(__file__).with_name("smoke.yaml"))


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    import torch

    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def runs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh folder for runs, set for child processes too."""
    folder = tmp_path / "runs"
    monkeypatch.setenv("LENGTHLAB_RUNS", str(folder))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv(TRUST, "0")  # --trust sets it for the whole process
    return folder


@pytest.fixture
def smoke() -> "Callable[..., Config]":
    """The smoke recipe with overrides, the same on every processor."""
    from lengthlab.config.load import load_config

    return lambda *overrides: load_config(SMOKE, overrides)


@pytest.fixture
def lengthlab(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command line in this process; returns exit status, standard output and standard error."""
    from lengthlab.cli.app import main

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = 0
        try:
            main(list(arguments))
        except SystemExit as stop:
            status = int(stop.code or 0)
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture(scope="session")
def trained_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder made by the command; tests get copies of it."""
    from lengthlab.cli.app import main

    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed), pytest.raises(SystemExit) as end:
        patch.setenv("LENGTHLAB_RUNS", str(tmp_path_factory.mktemp("trained-once")))
        main(["train", SMOKE, "--json"])
    assert not end.value.code
    result = json.loads(printed.getvalue())
    assert result["state"] == "finished" and [row["digits"] for row in result["evaluation"]] == [1, 2, 3, 4, 5]
    return Path(result["run"])


@pytest.fixture(scope="module")
def trained(trained_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run that the tests of a module share."""
    return shutil.copytree(trained_once, tmp_path_factory.mktemp("trained") / trained_once.name)


@pytest.fixture(scope="session")
def base() -> dict[str, Any]:
    """The config of the smoke recipe as plain data."""
    from lengthlab.config.load import load_config

    return load_config("smoke").model_dump(mode="json")


@pytest.fixture
def make_run(make_run_in: MakeRun, runs_folder: Path) -> MakeRun:
    """Write a run folder: make_run("aa", {5: 0.9, 10: 0.5}, {"seeds.weights": 3}). No scores: it is still running."""
    return partial(make_run_in, runs_folder)


@pytest.fixture(scope="session")
def make_run_in(base: dict[str, Any]) -> MakeRun:
    """The same with the folder for runs before the name."""
    from lengthlab.statistics import wilson

    def make(
        runs: Path, name: str, scores: Mapping[int, float] = {}, settings: Mapping[str, Any] = {}, **status: Any
    ) -> Path:
        config = copy.deepcopy(base)
        for key, value in settings.items():
            section = config
            *path, last = key.split(".")
            for part in path:
                section = section[part]
            section[last] = value
        folder = runs / name
        folder.mkdir(parents=True)
        (folder / "config.yaml").write_text(yaml.dump(config, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper)))
        began = status.pop("began", 1e9)
        state = {"state": "finished" if scores else "running", "time": began + 90, "step": 20, "steps": 20}
        (folder / "status.json").write_text(json.dumps(state | status))
        (folder / "starts.jsonl").write_text(json.dumps({"time": began, "by": "a test", "after_step": 0}) + "\n")
        lines: list[dict[str, Any]] = [
            {"step": step, "loss": 2.0 / step, "accuracy": 0.5 + step / 100, "examples": 8 * step, "tokens": 90 * step}
            for step in (10, 20)
        ]
        (folder / "speed.jsonl").write_text('{"step": 10, "tokens_per_second": 20.0}\n')
        lines.insert(1, {"step": 10, "exact_match": {"2": 0.25, "4": 0.0}})
        (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        if scores:
            rows = [
                {"digits": digits, "examples": 100, "exact_match": score, "weights": "last"}
                | dict(zip(("low", "high"), wilson(round(100 * score), 100), strict=True))
                for digits, score in scores.items()
            ]
            (folder / "evaluation.json").write_text(json.dumps(rows))
        return folder

    return make


@pytest.fixture(params=["yes", "no"])
def bf16(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """For tests about precision: whether the processor has bf16 arithmetic, faked both ways."""
    monkeypatch.setenv("LENGTHLAB_BF16", request.param)
    return request.param == "yes"


@pytest.fixture(autouse=True)
def processor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests marked `numeric` run twice: on the processor as it is, and as if it were of the other kind."""
    if getattr(request, "param", None) == "other processor":
        from lengthlab.training.hardware import has_fast_bf16

        monkeypatch.setenv("LENGTHLAB_BF16", "no" if has_fast_bf16() else "yes")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.get_closest_marker("numeric"):
        metafunc.parametrize("processor", ["this processor", "other processor"], indirect=True)


SUMMARIES = {  # counts that tests record, and what they come to where all of them passed
    "kills": "killed {} processes with SIGKILL; all resumed to the same bits",
    "deaths": "{} deaths before a file operation: 0 lost, 0 silently different",
    "damage": "{} commands on damaged runs: all mended it or said so; 0 tracebacks, 0 silent changes",
    "fuzzed": "{} command lines and settings tried: exit status 0 or 2, nothing written by a refused one",
}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many processes the tests killed, and what else they counted."""
    passed = terminalreporter.stats.get("passed", [])
    for counted, sentence in SUMMARIES.items():
        count = sum(value for report in passed for name, value in report.user_properties if name == counted)
        if count:
            terminalreporter.write_line(sentence.format(count))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Slow tests come first: most of them wait for processes of their own, and others fill the time.

    Tests of a group share a worker. pytest-xdist knows a group by the end of a test's id; 3.8.0 writes it where pytest
    9.2 no longer looks (its issue 1386), and every worker would build every group's fixtures.
    """
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    if getattr(config.option, "loadgroup", False):  # in a worker
        for item in items:
            if (group := item.get_closest_marker("xdist_group")) and not item.nodeid.endswith(f"@{group.args[0]}"):
                item._id = type(item.id).parse(f"{item.nodeid}@{group.args[0]}")


def pytest_collection_finish() -> None:
    """Leave what was imported out of the search for garbage: it took a tenth of all tests' time."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


class ForkServer:
    """Starts Python processes without their imports. One at a time; tests that use it share a group."""

    def __init__(self, requests: socket.socket, answers: IO[str]) -> None:
        self._requests = requests
        self._answers = answers

    def start(self, *arguments: str, files: tuple[IO[Any], IO[Any], IO[Any]], folder: Path | None = None) -> int:
        """The number of a process that is `python *arguments`, with the environment of this one."""
        request = {"arguments": arguments, "folder": str(folder or Path.cwd()), "environment": dict(os.environ)}
        socket.send_fds(self._requests, [json.dumps(request).encode() + b"\n"], [file.fileno() for file in files])
        return int(self._answers.readline())

    def wait(self) -> int:
        """The exit status of the process that was started last."""
        return int(self._answers.readline())

    def run(
        self, *arguments: str, folder: Path | None = None, typed: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """`python *arguments` to its end."""
        with contextlib.ExitStack() as opened, pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            given, out, err = (opened.enter_context(tempfile.TemporaryFile("w+")) for _ in range(3))
            given.write(typed)
            given.seek(0)
            self.start(*arguments, files=(given, out, err), folder=folder)
            status = self.wait()
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(arguments, status, out.read(), err.read())


@pytest.fixture(scope="session")
def python() -> Iterator[ForkServer]:
    """`python -u -W error`, by forks of a process that has imported torch; who uses it is in the group `forks`."""
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-u", "-W", "error", str(Path(__file__).with_name("fork_server.py"))]
    with subprocess.Popen(command, stdin=theirs.fileno()), ours, ours.makefile() as answers:
        theirs.close()
        yield ForkServer(ours, answers)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The system's chromium, driven by Playwright."""
    if CHROMIUM is None and "CI" not in os.environ:
        pytest.skip("no chromium found; install it (make browser) to run this")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()
