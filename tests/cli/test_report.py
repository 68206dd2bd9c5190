"""`lengthlab report`: where the page is written."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., tuple[int, str, str]]
RESULTS = Path(__file__).parents[2] / "results" / "mini"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("lengthlab.report.page.build", lambda results, figures, demo: f"<p>{results.name}{demo}</p>")
    monkeypatch.setattr("lengthlab.web.demo.demo_page", lambda name: f" with {name}")
    return tmp_path / "here"


def test_a_folder_is_made_inside_the_working_folder_only(here: Path, lengthlab: Command) -> None:
    arguments = ("report", "--results", str(RESULTS), "--no-demo", "--out")
    assert json.loads(lengthlab(*arguments, "new/folder/page.html", "--json")[1])["bytes"] == 11
    assert (here / "new" / "folder" / "page.html").read_text() == "<p>mini</p>"
    assert lengthlab(*arguments, "../page.html")[1] == "../page.html (11 bytes)\n"  # a folder that is there
    status, out, err = lengthlab(*arguments, "../elsewhere/page.html")
    assert status == 2 and out == "" and "--out: no folder ../elsewhere" in err and err.count("\n") == 1
    assert not (here.parent / "elsewhere").exists()


def test_the_demo_is_in_the_page_unless_unwanted(here: Path, lengthlab: Command) -> None:
    assert lengthlab("report", "--results", str(RESULTS))[0] == 0
    assert (here / "report.html").read_text() == "<p>mini with robust</p>"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--results", "nowhere"], "--results: no folder nowhere"),
        (["--results", str(RESULTS.parent / "mnii")], f"--results: no folder {RESULTS.parent / 'mnii'}; there is "),
        (["--results", str(RESULTS), "--out", "."], "--out: . is a folder; name a file in it, such as report.html"),
        (["--results", str(RESULTS), "--out", ""], "--out: . is a folder"),
        (["abc", "--results", str(RESULTS)], "--results: name runs or a folder of result tables, not both"),
        (["abc"], "no run 'abc'"),
        (["--results", str(RESULTS), "--figures", "../away/figures"], "--figures: no folder ../away;"),
    ],
)
def test_mistakes(arguments: list[str], message: str, here: Path, lengthlab: Command) -> None:
    status, out, err = lengthlab("report", *arguments)
    assert status == 2 and out == "" and message in err and err.count("\n") == 1
    assert list(here.iterdir()) == []
