"""Shared fixtures. Every test runs with one torch thread and keeps its runs in a folder of its own."""

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from lengthlab.cli import main
from lengthlab.config import Config
from lengthlab.recipes.load import load_config

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def runs_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh folder for runs, set for child processes too."""
    folder = tmp_path / "runs"
    monkeypatch.setenv("LENGTHLAB_RUNS", str(folder))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return folder


@pytest.fixture
def smoke() -> Callable[..., Config]:
    """The smoke recipe with overrides."""
    return lambda *overrides: load_config("smoke", overrides)


@pytest.fixture
def lengthlab(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command line in this process; returns exit status, standard output and standard error."""

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


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder made by the command."""
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed), pytest.raises(SystemExit) as end:
        patch.setenv("LENGTHLAB_RUNS", str(tmp_path_factory.mktemp("trained")))
        main(["train", "smoke", "--json"])
    assert not end.value.code
    result = json.loads(printed.getvalue())
    assert result["state"] == "finished" and [row["digits"] for row in result["evaluation"]] == [1, 2, 3, 4, 5]
    return Path(result["run"])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many processes the tests killed."""
    passed = terminalreporter.stats.get("passed", [])
    kills = sum(value for report in passed for name, value in report.user_properties if name == "kills")
    if kills:
        terminalreporter.write_line(f"killed {kills} processes with SIGKILL; all went on to the same bits")


SLOW = (
    "kill",
    "cluster",
    "compile_can",
    "two_processes",
    "interrupt",
    "ctrl_c",
    "to_its_figure",
    "rivals",
    "worked_example",
    "quickstart_trains",
    "equal_configs",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that wait for processes of their own come first, so that others fill the time."""
    items.sort(key=lambda item: not any(word in item.nodeid for word in SLOW))
