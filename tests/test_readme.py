"""What the README says is true: its worked example, its commands, its tree."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import lengthlab as package
from lengthlab.catalogue import catalogue
from lengthlab.cli import app
from lengthlab.commands.tables import renew

PACKAGE = Path(package.__file__).parent
ROOT = PACKAGE.parent.parent
README = (ROOT / "README.md").read_text()


@pytest.fixture(scope="module")
def copy_with_recency(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the README's encoding added just as the README says: one file, one line."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, folder / "lengthlab", ignore=shutil.ignore_patterns("__pycache__"))
    section = README.partition("## Add an encoding")[2].partition("\n## ")[0]
    file, line = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    encodings = folder / "lengthlab" / "encodings"
    (encodings / "recency.py").write_text(file)
    assert line.count("\n") == 1
    with open(encodings / "__init__.py", "a") as registry:
        registry.write(line)
    return folder


def run(folder: Path, *arguments: str, runs: Path) -> str:
    """A command in a process that sees the copy instead of the installed package."""
    environment = os.environ | {"PYTHONPATH": str(folder), "LENGTHLAB_RUNS": str(runs), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *arguments], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_worked_example_is_listed_and_trains(copy_with_recency: Path, tmp_path: Path) -> None:
    listed = json.loads(run(copy_with_recency, "lengthlab", "list", "encodings", "--json", runs=tmp_path))
    assert listed[-1] == {"name": "recency", "description": "bias: a learned linear penalty on distance"}
    result = json.loads(
        run(copy_with_recency, "lengthlab", "train", "smoke", "encoding=recency", "--json", runs=tmp_path)
    )
    assert result["state"] == "finished"


def test_the_worked_example_keeps_the_contracts(copy_with_recency: Path, tmp_path: Path) -> None:
    tests = str(ROOT / "tests" / "encodings" / "test_encodings.py")
    out = run(copy_with_recency, "pytest", tests, "-k", "recency", "-p", "no:cacheprovider", runs=tmp_path)
    assert int(re.findall(r"(\d+) passed", out)[0]) >= 10


def test_every_command_named_exists() -> None:
    commands = set(re.findall(r"^(?:\$ )?lengthlab ([a-z]+)", README, flags=re.MULTILINE))
    assert commands >= {"list", "show", "train", "evaluate", "add", "figure"}
    assert commands <= {name for command in app for name in [command]}


def test_the_tables_are_those_of_the_registries() -> None:
    assert renew(README, ROOT) == README, "run: make tables"
    assert all(
        f"`{item['name']}`" in README for axis, items in catalogue().items() if axis != "optimizers" for item in items
    )


def test_the_example_is_what_show_prints(lengthlab: Callable[..., tuple[int, str, str]]) -> None:
    _, out, _ = lengthlab("show", "zhou2024-mini", "--examples", "1")
    assert out.partition("\n\n")[0] in README


def test_the_tree_is_complete() -> None:
    tree = README.partition("## The tree")[2]
    parts = {path.name + ("/" if path.is_dir() else "") for path in PACKAGE.iterdir() if not path.name.startswith("__")}
    assert not {part for part in parts if part not in tree}
