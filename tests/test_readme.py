"""What the README and the docs say is true: worked examples, commands, tables, links, the tree."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lengthlab as package
from lengthlab.cli.app import app
from lengthlab.cli.doc_tables import renew
from lengthlab.config.catalogue import catalogue
from lengthlab.paper.experiment import experiment_names, load_experiment

PACKAGE = Path(package.__file__).parent
ROOT = PACKAGE.parent.parent
README = (ROOT / "README.md").read_text()
PAGES = {path.name: path for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}


EVERYTHING = """
import json, sys
from lengthlab.cli.app import main
from lengthlab.cli.doc_tables import axis_table
from lengthlab.config.contracts import check_variant
from lengthlab.config.load import load_config
from lengthlab.runs.run import Run
run = str(Run.of(load_config("smoke", ["encoding=recency"])).path)
for command in (
    ["list", "encodings", "--json"],
    ["train", "smoke", "encoding=recency", "--json"],
    ["export", run, "--to", "exported", "--no-onnx", "--json"],
):
    try:
        main(command)
    except SystemExit as stop:
        assert not stop.code
    print("----")
print(json.dumps([finding.failure for finding in check_variant("encodings", "recency")]))
print("----")
print(json.dumps(axis_table("encodings")))
"""


@pytest.mark.slow
@pytest.mark.xdist_group("forks")
def test_the_worked_example_is_listed_trains_is_exported_and_keeps_the_contracts(tmp_path: Path, python: Any) -> None:
    """In a copy of the package with the encoding added just as the README says: one file, one line."""
    shutil.copytree(PACKAGE, tmp_path / "lengthlab", ignore=shutil.ignore_patterns("__pycache__"))
    section = README.partition("## Add an encoding")[2].partition("\n## ")[0]
    file, line = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    encodings = tmp_path / "lengthlab" / "encodings"
    (encodings / "recency.py").write_text(file)
    assert line.count("\n") == 1
    with open(encodings / "__init__.py", "a") as registry:
        registry.write(line)
    done = python.run("-c", EVERYTHING, folder=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    listed, trained, exported, failures, documented = map(json.loads, done.stdout.split("----"))
    assert listed[-1] == {"name": "recency", "description": "bias: a learned linear penalty on distance"}
    assert trained["state"] == "finished"
    assert exported["differences"]["model.py"] < 1e-4
    assert documented.endswith("| `recency` | bias: a learned linear penalty on distance |")
    assert len(failures) >= 10 and not any(failures)


def test_every_command_named_exists() -> None:
    text = "\n".join(path.read_text() for path in PAGES.values())
    commands = set(re.findall(r"^(?:\$ )?lengthlab ([a-z]+)", text, flags=re.MULTILINE))
    assert commands >= {"list", "show", "train", "evaluate", "add", "analyse", "runs", "compare", "reproduce"}
    assert commands <= {name for command in app for name in [command]}


@pytest.mark.parametrize(
    "page",
    [*PAGES.values(), *PACKAGE.glob("*/__init__.py")],
    ids=lambda page: page.parent.name if page.stem == "__init__" else page.name,
)
def test_tables_and_types_are_those_of_the_registries(page: Path) -> None:
    text = page.read_text()
    assert renew(text, ROOT) == text, "run: make tables"


def test_the_catalogue_names_everything() -> None:
    text = PAGES["catalogue.md"].read_text()
    assert all(f"`{item['name']}`" in text for items in catalogue().values() for item in items)


def test_every_figure_of_the_paper_has_one_of_ours() -> None:
    text = PAGES["paper.md"].read_text()
    experiments = [load_experiment(name) for name in experiment_names() if f"`{name}`" in text]
    drawn = {one.name for one in experiments}
    drawn |= {f"{one.name}-{figure.replace('_', '-')}" for one in experiments for figure in one.also}
    assert set(re.findall(r"`([\w-]+)\.png`", text)) == drawn
    listed = set(re.findall(r"\b(?:[BCD]\.)?\d+", " ".join(re.findall(r"^\| (?:Figures?|Table) (.*?) \|", text, re.M))))
    figures = {str(number) for number in range(1, 17)} | {f"C.{number}" for number in range(1, 18)}
    assert listed | {"C.5", "C.6"} == figures | {f"D.{number}" for number in range(1, 11)} | {
        "B.1"
    }  # C.4-C.7 is a range


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    path = PAGES[page]
    links = re.findall(r"\]\(([^)#]+)", path.read_text())
    missing = [link for link in links if "://" not in link and not (path.parent / link).exists()]
    assert not missing


def test_the_example_is_what_show_prints(lengthlab: Callable[..., tuple[int, str, str]]) -> None:
    _, out, _ = lengthlab("show", "zhou2024-mini", "--examples", "1")
    assert out.partition("\n\n")[0] in README


def test_the_tree_is_complete() -> None:
    tree = README.partition("## The tree")[2]
    parts = {
        path.name + ("/" if path.is_dir() else "")
        for path in PACKAGE.iterdir()
        if not path.name.startswith(("__", "py."))
    }
    assert not {part for part in parts if part not in tree}
