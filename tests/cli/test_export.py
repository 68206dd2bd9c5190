"""`lengthlab export`: a folder that needs no lengthlab."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from safetensors import safe_open

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


@pytest.mark.parametrize("to", ["full", "full/file"])
def test_nothing_is_overwritten(trained: Path, lengthlab: Command, tmp_path: Path, to: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    status, _, err = lengthlab("export", str(trained), "--to", str(tmp_path / to))
    assert status == 2 and ("not empty" in err or "file" in err)
    assert [file.name for file in (tmp_path / "full").iterdir()] == ["file"]
