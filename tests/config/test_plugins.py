"""Variants from outside the package, in processes of their own and in folders of their own."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from lengthlab.cli.app import main
from lengthlab.config.contracts import contracts_of
from lengthlab.config.plugins import ENVIRONMENT, variants_of
from lengthlab.encodings import ENCODINGS

pytestmark = pytest.mark.xdist_group("forks")

IDEA = '''"""An encoding that lengthlab does not have."""

import torch
from torch import Tensor, nn

from lengthlab.encodings import ENCODINGS
from lengthlab.encodings.encoding import Encoding, Shape, distances


class Recency(Encoding):
    """b(i, j) = -slope |i - j|, with one learned slope for each head."""

    def __init__(self, options, shape: Shape) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.full((shape.heads, 1, 1), 0.1))

    def bias(self, q, k, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        return -self.slope * distances(q_positions, k_positions).abs()[:, None]


ENCODINGS.add("recency", Recency, "bias: a learned linear penalty on distance")
'''
SMALL = ["training.steps=3", "evaluation.examples=16", "evaluation.digits=1-2", "training.compile=off"]


@pytest.fixture
def ideas(tmp_path: Path) -> Path:
    file = tmp_path / "my_ideas.py"
    file.write_text(IDEA)
    return file


Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Run a command in this process; what its plugin adds is taken back afterwards."""
    monkeypatch.setenv(ENVIRONMENT, "")

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(arguments)
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out, err

    yield run
    ENCODINGS.remove("recency")


@pytest.fixture
def lengthlab(python: Any) -> Command:
    """Run a command in a folder that is not the repository, in a process of its own."""

    def run(
        folder: Path, *arguments: str, paths: Sequence[Path] = (), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        searched = os.pathsep.join([*map(str, paths), os.environ.get("PYTHONPATH", "")])
        environment = {"LENGTHLAB_RUNS": str(folder / "runs"), "PYTHONPATH": searched} | environment
        return python.run("-m", "lengthlab", *arguments, folder=folder, **environment)

    return run


@pytest.mark.slow
def test_a_plugin_s_encoding_is_trained_and_evaluated_outside_the_repository(lengthlab: Command, ideas: Path) -> None:
    folder = ideas.parent
    done = lengthlab(folder, "train", "smoke", "encoding=recency", *SMALL, "--plugin", "my_ideas.py", "--json")
    assert done.returncode == 0, done.stderr
    run = Path(json.loads(done.stdout)["run"])
    assert (
        "file: my_ideas.py" in (run / "config.yaml").read_text()
        and str(folder) not in (run / "config.yaml").read_text()
    )

    named = lengthlab(folder, "evaluate", run.name, "--digits", "1", "--json", LENGTHLAB_PLUGINS=str(ideas))
    assert named.returncode == 0 and json.loads(named.stdout)[0]["digits"] == 1, named.stderr

    unnamed = lengthlab(folder, "evaluate", run.name, "--digits", "1")
    assert unnamed.returncode == 2 and "name it with --plugin my_ideas.py" in unnamed.stderr

    ideas.write_text(IDEA.replace("0.1", "0.2"))
    changed = lengthlab(folder, "evaluate", run.name, "--digits", "1", "--plugin=my_ideas.py")
    assert changed.returncode == 2 and "my_ideas.py has changed since this run began" in changed.stderr


def test_a_recipe_names_its_plugin_and_a_run_s_config_cannot(lengthlab: Command, ideas: Path) -> None:
    folder = ideas.parent
    recipe = "extends: smoke\nplugins: [my_ideas.py]\nencoding: recency\n"
    (folder / "mine.yaml").write_text(recipe)
    shown = lengthlab(folder, "show", "mine.yaml", "--json")
    assert shown.returncode == 0 and "recency" in shown.stdout, shown.stderr
    (folder / "config.yaml").write_text(recipe)  # as a downloaded run might have it
    ideas.write_text(IDEA + "open('executed', 'w')")
    refused = lengthlab(folder, "show", "config.yaml")
    assert refused.returncode == 2 and refused.stderr.startswith("lengthlab: plugins:")
    assert not (folder / "executed").exists()


def test_a_sweep_s_children_have_the_plugin_too(lengthlab: Command, ideas: Path) -> None:
    arguments = ["quickstart", "encoding=recency", "--recipes", "smoke", *SMALL, "--plugin", str(ideas)]
    done = lengthlab(ideas.parent, *arguments)
    assert "smoke, seed 1: finished" in done.stdout, done.stdout + done.stderr  # though it has learned nothing


def test_a_plugin_is_listed_and_checked(lengthlab: Command, ideas: Path) -> None:
    listed = lengthlab(ideas.parent, "list", "encodings", "--json", "--plugin", "my_ideas.py")
    assert json.loads(listed.stdout)[-1] == {
        "name": "recency",
        "description": "bias: a learned linear penalty on distance",
    }
    checked = lengthlab(ideas.parent, "check", "my_ideas.py", "--json")
    assert checked.returncode == 0, checked.stderr
    findings = json.loads(checked.stdout)
    assert {finding["contract"] for finding in findings} == {kept.__name__ for kept in contracts_of("encodings")}
    assert not any(finding["failure"] for finding in findings)
    ideas.write_text(IDEA.replace("Encoding):", "Encoding):\n    relative = False\n"))
    broken = lengthlab(ideas.parent, "check", "my_ideas.py")
    assert broken.returncode == 1 and "broken  recency shared=True: relative encodings see" in broken.stdout
    assert f"2 of {len(findings)} contracts are broken" in broken.stderr


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("exit()", "my_ideas.py, line 1: SystemExit"),
        ("1 +", "my_ideas.py, line 1: SyntaxError"),
        ("\nraise KeyError('x')", "my_ideas.py, line 2: KeyError: 'x'"),
        (IDEA + "1 / 0", "my_ideas.py, line 22: ZeroDivisionError"),
        (
            IDEA.replace(", Recency,", ", 'recency:Nothing',"),
            "my_ideas.py: encoding 'recency': there is no ",
        ),
        (IDEA.replace('"recency"', '"FIRE"'), "my_ideas.py, line 21: ValueError: encoding 'FIRE' is registered twice"),
    ],
)
def test_a_broken_plugin_ends_in_one_sentence(lengthlab: Command, source: str, message: str, ideas: Path) -> None:
    ideas.write_text(source)
    done = lengthlab(ideas.parent, "list", "--plugin", "my_ideas.py")
    assert done.returncode == 2 and done.stderr.startswith(f"lengthlab: --plugin {message}")
    assert done.stderr.count("\n") == 1


def test_a_plugin_may_name_its_class_as_lengthlab_does(ideas: Path) -> None:
    """As in README's line for a file within the package."""
    ideas.write_text(IDEA.replace(", Recency,", ', "recency:Recency",'))
    try:
        assert variants_of(ideas) == [("encodings", "recency")]
        assert ENCODINGS["recency"].load().__name__ == "Recency" and ENCODINGS["recency"].load().__doc__
    finally:
        ENCODINGS.remove("recency")


WRONG = [
    ("shape.heads", "shape.head", 15, "AttributeError: 'Shape' object has no attribute 'head'"),
    ("return -self", "return -self.other", 18, "AttributeError: 'Recency' object has no attribute 'other"),
    (
        "options, shape: Shape",
        "options",
        13,
        "TypeError: Recency.__init__() takes 2 positional arguments but 3 were given",
    ),
    ("self, q, k, q_", "self, q, q_", 17, "TypeError: Recency.bias() takes 4 positional arguments but 5 were given"),
]


@pytest.mark.parametrize(("right", "wrong", "line", "reason"), WRONG)
def test_a_mistake_inside_a_plugin_names_its_line(
    right: str, wrong: str, line: int, reason: str, ideas: Path, here: Callable[..., Any]
) -> None:
    ideas.write_text(IDEA.replace(right, wrong))
    status, _, err = here("train", "smoke", "encoding=recency", *SMALL, "--plugin", str(ideas))
    assert status == 2 and err.startswith(f"lengthlab: --plugin {ideas}, line {line}: {reason}")
    assert err.count("\n") == 1
    status, out, _ = here("check", str(ideas))
    assert status == 1 and reason in out and f"({ideas}, line {line})" in out


def test_a_missing_file_and_a_missing_name_are_told(lengthlab: Command, tmp_path: Path) -> None:
    assert "--plugin no.py: No such file" in lengthlab(tmp_path, "list", "--plugin", "no.py").stderr
    assert "--plugin: name a Python file" in lengthlab(tmp_path, "list", "--plugin").stderr


def test_an_installed_package_s_entry_point_is_found(lengthlab: Command, ideas: Path) -> None:
    folder = ideas.parent / "site"
    (folder / "ideas-1.0.dist-info").mkdir(parents=True)
    (folder / "ideas-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: ideas\nVersion: 1.0\n")
    (folder / "ideas-1.0.dist-info" / "entry_points.txt").write_text("[lengthlab]\nideas = ideas\n")
    (folder / "ideas.py").write_text(IDEA)
    listed = lengthlab(ideas.parent, "list", "encodings", "--json", paths=[folder])
    assert json.loads(listed.stdout)[-1]["name"] == "recency", listed.stderr
    config = lengthlab(ideas.parent, "config", "smoke", "encoding=recency", paths=[folder])
    assert "file: ideas" in config.stdout, config.stdout + config.stderr
