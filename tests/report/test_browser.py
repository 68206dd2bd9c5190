"""The page in a real browser: nothing wider than a phone, and a PDF on paper."""

import html
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="no chromium found; install it (make browser) to run this"
)
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
)
# A window cannot be as narrow as a phone, a frame in it can.
FRAME = """<!DOCTYPE html><title>not measured</title>
<iframe width="{width}" height="3000" srcdoc="{page}"></iframe>
<script>
onload = () => {{
  const page = document.querySelector("iframe").contentDocument;
  const wide = [...page.querySelectorAll("body *")].filter(
    (node) => !node.closest(".scroll") && node.getBoundingClientRect().right > {width}
  );
  const images = [...page.images].filter((image) => image.complete && image.naturalWidth > 0);
  document.title = `${{page.documentElement.scrollWidth}} wide, ${{wide.length}} out, ${{images.length}} pictures`;
}};
</script>"""


def browse(folder: Path, page: str, *options: str) -> str:
    """What the browser prints for a page; a profile of its own is thrown away with the folder."""
    assert CHROMIUM, "continuous integration should have a browser: make browser"
    (folder / "page.html").write_text(page, encoding="utf-8")
    command = [CHROMIUM, *QUIET, f"--user-data-dir={folder / 'profile'}", *options, (folder / "page.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("width", [360, 1000])
def test_fits_the_screen_with_everything_open(page: str, tmp_path: Path, width: int) -> None:
    opened = page.replace("<details>", "<details open>")
    document = browse(tmp_path, FRAME.format(width=width, page=html.escape(opened)), "--dump-dom")
    assert re.findall(r"<title>(.*?)</title>", document)[0] == f"{width} wide, 0 out, 3 pictures"


def test_prints_on_paper(page: str, tmp_path: Path) -> None:
    browse(tmp_path, page, "--no-pdf-header-footer", f"--print-to-pdf={tmp_path / 'page.pdf'}")
    pdf = (tmp_path / "page.pdf").read_bytes()
    assert pdf.startswith(b"%PDF") and 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) < 30
