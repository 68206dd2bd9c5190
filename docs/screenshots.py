"""Take the pictures of the page anew, after a shipped model or the page has changed: `make screenshots`."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

DOCS = Path(__file__).parent
WRONG = "/try?model=fragile&a=96685782032890481714&b=83327294455559877639&place=6"
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
PICTURES: dict[str, tuple[str, dict[str, Any]]] = {  # name: address, how the browser is
    "try": ("/try?model=robust&a=31415926535&b=27182818284&head=1.1&place=6", {}),
    "wrong": (WRONG, {}),
    "phone": (WRONG, {"viewport": {"width": 400, "height": 860}, "color_scheme": "dark", "device_scale_factor": 1.5}),
    "look": ("/look?a=583&b=672", {}),
}
COMPLETE = ".lines path, .inside + .inside .large canvas"  # what is drawn last


def main() -> None:
    command = [sys.executable, "-m", "lengthlab", "serve", "--port", "0"]
    browser_file = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        try:
            assert server.stdout
            url = re.findall(r"http://[^/]+", server.stdout.readline())[0]
            browser = playwright.chromium.launch(executable_path=browser_file, args=["--no-sandbox"])
            for name, (address, options) in PICTURES.items():
                page = browser.new_page(
                    **{"viewport": {"width": 1280, "height": 900}} | options, reduced_motion="reduce"
                )
                page.set_default_timeout(120_000)
                page.goto(url + address)
                page.wait_for_selector(COMPLETE, state="attached")
                if name == "phone":
                    page.evaluate("document.querySelector('#model').scrollIntoView()")
                page.screenshot(path=DOCS / f"{name}.png", full_page=name != "phone")
                page.close()
            browser.close()
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
