"""The files of the pages, without a browser: nothing from elsewhere, nothing that the bundle would break."""

import re
from collections import Counter
from pathlib import Path

import pytest

import lengthlab.web.demo as demo
from lengthlab.errors import UserError
from lengthlab.web.shell import MENU, PAGES, MenuPage, served

FILES = sorted(PAGES.iterdir())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_nothing_comes_from_elsewhere(file: Path) -> None:
    found = set(re.findall(r"https?://[^\s\"'`)]+", file.read_text()))
    assert found <= {"http://www.w3.org/2000/svg"}  # a name, not an address


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_nothing_is_kept_in_the_browser(file: Path) -> None:
    assert not re.search(r"localStorage|sessionStorage|indexedDB|serviceWorker|caches\.|\.cookie", file.read_text())


@pytest.mark.parametrize("page", MENU, ids=lambda page: page.name)
def test_pages_have_no_script_or_style_of_their_own(page: MenuPage) -> None:
    """The content security policy would refuse them."""
    text = served(page)
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon[a-z]+=", text)
    assert f'<a href="/{page.name}" aria-current="page">{page.title}</a>' in text and text.count("aria-current") == 1
    assert [text.count(once) for once in ("<html lang=", "<h1>", "<title>", "<nav", "</main>")] == [1] * 5
    assert f"page-{page.name}.js" in text
    for name in re.findall(r'(?:src|href)="/pages/([^"]+)"', text):
        assert (PAGES / name).is_file()


def test_the_bundle_has_every_name_once() -> None:
    script = demo.bundle()
    assert not re.search(r"^(import|export) ", script, re.MULTILINE)
    names = re.findall(r"^(?:async )?(?:const|let|function|class) (\w+)", script, re.MULTILINE)
    assert [name for name, count in Counter(names).items() if count > 1] == []
    for module in demo.MODULES:  # each imports only what comes before it
        wanted = re.findall(r'from "\./(\w+)\.js"', (PAGES / f"{module}.js").read_text())
        assert set(wanted) <= set(demo.MODULES[: demo.MODULES.index(module)])


def test_a_model_that_the_page_cannot_run_is_refused() -> None:
    from lengthlab.config.load import load_config

    assert demo.refusal(load_config("coupling-relative-mini")) is None
    assert demo.refusal(load_config("zhou2024-mini")) is None
    assert demo.refusal(load_config("zhou2024-mini", ["also=[{positions: sequential, encoding: clipped}]"])) is None
    pairs = ("also=[{positions: sequential, encoding: rope}]", "also=[{positions: digit-place, encoding: clipped}]")
    for override in ("encoding=rope", "model.mask=prefix", "format=interleaved", "format.padding=none", *pairs):
        assert demo.refusal(load_config("zhou2024-mini", [override]))


def test_too_large_a_page_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "LARGEST", 1000)
    with pytest.raises(UserError, match="at most 1,000 can be mailed"):
        demo.demo_page("robust")
