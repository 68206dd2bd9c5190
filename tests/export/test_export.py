"""`lengthlab export`: a folder that needs no lengthlab."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import yaml
from safetensors import safe_open

from lengthlab.export.file import open_model
from lengthlab.export.folder import export_run
from lengthlab.runs.run import Run

Command = Callable[..., tuple[int, str, str]]


def test_a_folder_that_needs_no_lengthlab(trained: Path, lengthlab: Command, tmp_path: Path) -> None:
    status, out, err = lengthlab("export", str(trained), "--to", str(tmp_path / "new" / "model"), "--no-onnx", "--json")
    assert status == 0, err
    folder = tmp_path / "new" / "model"
    assert json.loads(out)["files"] == [str(folder / name) for name in ("model.safetensors", "model.py", "README.md")]
    assert json.loads(out)["differences"]["model.py"] < 1e-4
    with safe_open(folder / "model.safetensors", framework="pt") as file:
        metadata = file.metadata()
    assert json.loads(metadata["config"])["training"]["digits"] == 3
    assert json.loads(metadata["vocabulary"])[:12] == [*"0123456789.^"]
    head = yaml.safe_load((folder / "README.md").read_text().split("---")[1])
    assert head["model-index"][0]["results"][0]["metrics"][0]["name"] == "exact match, 1 digit"
    # torch alone: the package is not on the path of this process
    done = subprocess.run([sys.executable, "-I", folder / "model.py", "12", "34"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.strip(), done.stderr


def test_the_file_is_the_model(trained: Path, tmp_path: Path) -> None:
    from lengthlab.evaluation.load import load_model

    export_run(Run(trained), tmp_path / "model", onnx=False)
    again, pipeline, facts = open_model(tmp_path / "model" / "model.safetensors")
    original, _ = load_model(Run(trained))
    for (name, one), (_, other) in zip(original.named_parameters(), again.named_parameters(), strict=True):
        assert torch.equal(one, other), name
    assert (
        facts.recipe == (Run(trained).recipe or "a recipe of its own")
        and facts.run == trained.name
        and pipeline.config == Run(trained).config
    )
    assert [score.digits for score in facts.scores] == [1, 2, 3, 4, 5]
    assert [(run.run, run.seed) for run in facts.tried] == [(trained.name, "0")]


def test_onnx_gives_the_same_logits(trained: Path, tmp_path: Path) -> None:
    """At lengths and numbers of rows that it was not traced with."""
    from lengthlab.evaluation.load import load_model
    from lengthlab.export.folder import largest_difference

    exported = export_run(Run(trained), tmp_path / "model", onnx=True)
    assert exported.differences["model.onnx"] < 1e-4
    model, pipeline = load_model(Run(trained))
    for _, batch in pipeline.test_batches(9, 7):
        assert largest_difference(tmp_path / "model" / "model.onnx", model, batch) < 1e-4


@pytest.mark.parametrize("to", ["full", "full/file"])
def test_nothing_is_overwritten(trained: Path, lengthlab: Command, tmp_path: Path, to: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    status, _, err = lengthlab("export", str(trained), "--to", str(tmp_path / to))
    assert status == 2 and ("not empty" in err or "file" in err)
    assert [file.name for file in (tmp_path / "full").iterdir()] == ["file"]
