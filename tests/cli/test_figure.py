"""`lengthlab figure`: files that can be opened, in a folder that is there."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., tuple[int, str, str]]


def test_figure_draws_png_svg_and_pdf(
    trained: Path, lengthlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, _ = lengthlab("figure", str(trained), "--out", "drawn/here/curve", "--json")
    files = [Path(name) for name in json.loads(out)]
    assert status == 0 and [file.suffix for file in files] == [".png", ".svg", ".pdf"]
    assert files[0].read_bytes().startswith(b"\x89PNG") and b"<svg" in files[1].read_bytes()


def test_names_with_dots_and_brackets_are_left_alone(trained: Path, lengthlab: Command, tmp_path: Path) -> None:
    files = json.loads(lengthlab("figure", str(trained), "--out", str(tmp_path / "fig.v1.2"), "--json")[1])
    assert [Path(file).name for file in files] == ["fig.v1.2.png", "fig.v1.2.svg", "fig.v1.2.pdf"]
    files = json.loads(lengthlab("figure", str(trained), "--out", str(tmp_path / "fig.png"), "--json")[1])
    assert [Path(file).name for file in files] == ["fig.png", "fig.svg", "fig.pdf"]


def test_a_folder_elsewhere_is_not_made(
    trained: Path, lengthlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for out in ("../elsewhere/curve", str(tmp_path / "elsewhere" / "deeper" / "curve")):
        status, printed, err = lengthlab("figure", str(trained), "--out", out)
        assert status == 2 and printed == "" and "--out: no folder" in err and err.count("\n") == 1
    assert not (tmp_path / "elsewhere").exists()
