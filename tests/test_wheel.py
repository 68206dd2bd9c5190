"""The wheel, unpacked far from the repository: everything is inside, and the box answers and is served."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.xdist_group("forks")  # built once, used by a fork

ROOT = Path(__file__).parents[1]
USE = """
import contextlib, io, json
from pathlib import Path
from fastapi.testclient import TestClient
import lengthlab
from lengthlab.cli.app import main
from lengthlab.web.server import make_app

def printed(*typed):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main(typed)
    return out.getvalue()

with TestClient(make_app(Path("runs"), Path("results")), base_url="http://127.0.0.1") as client:
    pages = {page: client.get(page).status_code for page in ("/", "/try", "/look", "/runs", "/pages/try.js")}
    served = client.get("/api/sum", params={"model": "paper", "a": "12", "b": "34"}).json()["done"]
print(json.dumps({
    "file": lengthlab.__file__, "pages": pages, "served": served, "added": printed("add", "31415926", "27182818"),
    "recipes": json.loads(printed("list", "recipes", "--json")),
    "experiments": json.loads(printed("list", "experiments", "--json")),
    "demo": printed("demo", "--out", "adding.html"),
}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel as `pip wheel` makes it."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (file,) = folder.glob("lengthlab-*.whl")
    return zipfile.ZipFile(file)


def test_every_file_of_the_package_is_inside(wheel: zipfile.ZipFile) -> None:
    files = [path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert inside == {path.relative_to(ROOT / "src").as_posix() for path in files}
    kinds = {Path(name).suffix for name in inside} | {Path(name).name for name in inside}
    assert kinds >= {".safetensors", ".md", ".html", ".js", ".css", ".yaml", ".jinja", ".cpp", ".h", "py.typed"}


def test_the_wheel_tells_what_it_is(wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    fields = set(re.findall(r"^([\w-]+):", wheel.read(name).decode(), flags=re.MULTILINE))
    assert {"Author", "License-Expression", "Project-URL", "Classifier", "Keywords", "Summary"} <= fields
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt"))
    assert "lengthlab = lengthlab.cli:main" in wheel.read(name).decode()


def test_the_wheel_adds_serves_and_lists_outside_the_repository(
    wheel: zipfile.ZipFile, tmp_path: Path, python: Any
) -> None:
    wheel.extractall(tmp_path / "site")
    done = python.run("-c", USE, folder=tmp_path, PYTHONPATH=str(tmp_path / "site"))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert Path(told["file"]).is_relative_to(tmp_path / "site")
    assert told["added"].endswith("31415926 + 27182818 = 58598744\ncorrect\n")
    assert told["served"]["answer"] == "46" and set(told["pages"].values()) == {200}
    assert told["recipes"] and told["experiments"]
    assert (tmp_path / "adding.html").stat().st_size > 1_000_000 and "adding.html" in told["demo"]
