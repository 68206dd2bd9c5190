"""The page in a real browser: nothing wider than a phone, and a PDF on paper."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.xdist_group("web")  # they share a browser
OUT = """() => [...document.querySelectorAll("body *")].filter(
  (node) => !node.closest(".scroll") && node.getBoundingClientRect().right > innerWidth
).map((node) => node.outerHTML)"""
PICTURES = "[...document.images].filter((image) => image.complete && image.naturalWidth > 0).length"


@pytest.fixture(scope="module")
def opened(page: str, chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The page as a file in a browser, with everything open."""
    file: Path = tmp_path_factory.mktemp("opened") / "page.html"
    file.write_text(page.replace("<details>", "<details open>"), encoding="utf-8")
    tab = chromium.new_page()
    tab.goto(file.as_uri())
    yield tab
    tab.close()


@pytest.mark.parametrize("width", [360, 1000])
def test_fits_the_screen(opened: Any, width: int) -> None:
    opened.set_viewport_size({"width": width, "height": 3000})
    assert opened.evaluate("document.documentElement.scrollWidth") == width
    assert opened.evaluate(OUT) == [] and opened.evaluate(PICTURES) == 3


def test_prints_on_paper(opened: Any) -> None:
    pdf = opened.pdf()
    assert pdf.startswith(b"%PDF") and 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) < 30
