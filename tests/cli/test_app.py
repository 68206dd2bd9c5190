"""The command as a whole: help, completion, and output that fits and cannot harm a terminal."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from lengthlab import __version__
from lengthlab.cli.app import COMMANDS, app

Command = Callable[..., tuple[int, str, str]]
MakeRun = Callable[..., Path]
NAMES = [name for names in COMMANDS.values() for name in names]


def test_version_and_help(lengthlab: Command) -> None:
    assert lengthlab("--version")[1].strip() == f"lengthlab {__version__}"
    status, out, _ = lengthlab("--help")
    assert status == 0 and lengthlab("help") == lengthlab() == (0, out, "")
    assert max(map(len, out.splitlines())) <= 80
    for name in NAMES:  # with the first line of its docstring
        summary = (app[name].help or "").strip().splitlines()[0]
        assert summary and summary.split()[0] in out
        assert re.search(rf"│ {name} ", out)


@pytest.mark.parametrize("name", [*NAMES, "bench data", "bench train", "bench evaluate"])
def test_every_command_explains_itself_in_80_columns(name: str, lengthlab: Command) -> None:
    status, out, err = lengthlab(*name.split(), "--help")
    assert status == 0 and err == "" and f"Usage: lengthlab {name}" in out
    assert max(map(len, out.splitlines())) <= 80
    assert lengthlab("help", *name.split()) == (0, out, "")
    undescribed = r"^│ +(?:\* +)?(?:--[\w-]+ ?)+(?:[A-Z]+)? *(?:\[.*)?│$"
    assert not re.findall(undescribed, out, re.MULTILINE)


def test_help_needs_nothing_heavy() -> None:
    """In a process of its own: the help of everything, and what was imported for it."""
    code = f"""
import contextlib, io, sys
from lengthlab.cli.app import main
for name in {["", *NAMES]}:
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        main([name, "--help"] if name else ["--help"])
print([name for name in ("torch", "scipy", "numpy", "duckdb", "pydantic", "matplotlib") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n" and done.stderr == ""


def test_an_unknown_command_names_the_nearest(lengthlab: Command) -> None:
    for arguments in (("trian", "smoke"), ("help", "trian")):
        status, out, err = lengthlab(*arguments)
        assert status == 2 and out == "" and 'Did you mean "train"?' in err


@pytest.mark.parametrize("name", NAMES)
def test_every_command_refuses_what_it_does_not_know(
    name: str, lengthlab: Command, runs_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = lengthlab(name, "--no-such-option")
    assert status == 2 and out == "" and err.startswith("lengthlab: ") and err.count("\n") == 1
    assert "no-such-option" in err and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command(shell: Literal["bash", "zsh", "fish"]) -> None:
    script = app.generate_completion(shell=shell)
    assert all(name in script for name in NAMES) and "dry-run" in script


def test_completion_is_installed_in_the_home_folder(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "SHELL": "/bin/bash", "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-m", "lengthlab", "--install-completion"]
    path = {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    done = subprocess.run(command, env=environment | path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    scripts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert any("quickstart" in script for script in scripts)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch, make_run: MakeRun) -> None:
    """A terminal of 80 columns, and runs of two recipes that differ in much."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")  # makes rich take the output for a terminal
    for seed in range(4):
        seeds = {f"seeds.{kind}": seed for kind in ("weights", "data", "sampling")}
        long = {"training.growth": 0.25, "model.layers": 4, "model.mask": "prefix", "format.order": "standard"}
        make_run(f"fire{seed}", {3: 1.0, 12: 0.5 + seed / 10, 20: 0.1}, {"encoding": {"kind": "fire"}} | seeds)
        make_run(f"rope{seed}", {3: 0.9, 12: 0.1 + seed / 10, 20: 0.0}, {"encoding": {"kind": "rope"}} | seeds | long)
    make_run("dead", settings={"encoding": {"kind": "none"}, "training.steps": 5000})


@pytest.mark.parametrize(
    "arguments",
    [
        ("list",),
        ("list", "experiments"),
        ("list", "options"),
        ("show", "zhou2024-mini", "--digits", "9"),
        ("diff", "zhou2024-mini", "coupling-relative-mini"),
        ("config", "zhou2024-mini"),
        ("runs",),
        ("runs", "--columns", "all"),
        ("runs", "--over-seeds"),
        ("compare", "encoding = 'fire'", "encoding = 'rope'", "--digits", "12"),
        ("claims", "--results", str(Path(__file__).parents[2] / "results" / "mini"), "--rules"),
        ("reproduce", "encodings", "--dry-run"),
    ],
    ids=" ".join,
)
def test_what_is_printed_fits_80_columns(arguments: tuple[str, ...], narrow: None, lengthlab: Command) -> None:
    status, out, err = lengthlab(*arguments)
    assert status == 0, err
    lines = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in out.splitlines()]
    assert not [line for line in lines if len(line.rstrip()) > 80]


def test_control_characters_and_markup_are_shown_not_obeyed(make_run: MakeRun, lengthlab: Command) -> None:
    """In the name of a run, in a message, in a condition, in a mistake."""
    make_run("evil\x1b]0;title\x07", {5: 1.0}, {"training.steps": 7}, message="\x1b[2J[bold]gone[/bold] \u202e")
    make_run("fine", {5: 0.5})
    screens = [
        lengthlab("runs"),
        lengthlab("runs", "--columns", "id,message"),
        lengthlab("runs", "--csv"),
        lengthlab("runs", "--over-seeds"),
        lengthlab("runs", "id = '\x1b[31m'"),
        lengthlab("train", "\x1b[31mno recipe"),
        lengthlab("evaluate", "\x9b31m"),
        lengthlab("trai\x1b[0mn"),
    ]
    for _, out, err in screens:
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", out + err)
    assert "\\x1b]0;title\\x07" in screens[0][1]
    assert "\\x1b[2J[bold]gone[/bold] \\u202e" in screens[1][1]
    assert "none of 2 runs meets id = '\\x1b[31m'" in screens[4][1]
    assert "\\x1b[31mno recipe" in screens[5][2]
