"""A real server on loopback over a small folder of runs, and a real browser that asks it."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

from lengthlab.runs.lock import locked

SIZE = {"width": 1280, "height": 900}  # of the window


@dataclass(frozen=True)
class Server:
    """Where it answers, and what it shows."""

    url: str
    runs: Path

    def get(self, path: str, headers: dict[str, str] | None = None, **query: Any) -> tuple[int, Any]:
        """Status and JSON of an answer; text where it is not JSON."""
        address = f"{self.url}{path}{'?' + urlencode(query) if query else ''}"
        try:
            with urlopen(Request(address, headers=headers or {}), timeout=60) as answer:
                status, body = answer.status, answer.read()
        except HTTPError as error:
            status, body = error.code, error.read()
        try:
            return status, json.loads(body)
        except ValueError:
            return status, body.decode()


def start(runs: Path, *options: str, **settings: str) -> Iterator[Server]:
    """`lengthlab serve` as a process of its own, ended afterwards."""
    environment = os.environ | {"LENGTHLAB_RUNS": str(runs), "OMP_NUM_THREADS": "1"} | settings
    command = [sys.executable, "-m", "lengthlab", "serve", "--port", "0", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, text=True, env=environment, **pipes) as process:
        try:
            assert process.stdout
            line = process.stdout.readline()
            found = re.match(r"(http://\S+?)/(\?\S*)?  \(Ctrl-C ends\)", line)
            assert found, line + process.stdout.read()
            yield Server(found[1], runs)
        finally:
            process.terminate()


@contextmanager
def within(runs: Path, results: Path) -> Iterator[Server]:
    """The same server in a thread of this process, which has torch already."""
    import uvicorn

    from lengthlab.web.server import make_app

    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    app = make_app(runs, results, "127.0.0.1", port)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Server(f"http://127.0.0.1:{port}", runs)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@pytest.fixture
def start_server() -> Callable[..., Iterator[Server]]:
    """For the command itself: over a folder of runs, with options and settings of the environment."""
    return start


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, make_run_in: Any) -> Iterator[Server]:
    """Five finished runs of two settings, one under way, one whose process died, and a folder that is no run."""
    runs = tmp_path_factory.mktemp("served")
    for seed in range(3):
        make_run_in(runs, f"aaaa{seed}", {3: 1.0, 5: 0.9, 10: 0.2 * seed}, {"seeds.weights": seed})
    for seed in range(2):
        make_run_in(runs, f"bbbb{seed}", {3: 1.0, 5: 0.5}, {"seeds.weights": seed, "training.digits": 4})
    make_run_in(runs, "cccc0", {}, {"seeds.weights": 9})
    make_run_in(runs, "eeee0", {}, {"seeds.weights": 10})
    (runs / "not-a-run").mkdir()
    results = Path(__file__).parents[2] / "results" / "mini"
    with locked(runs / "cccc0"), within(runs, results) as found:
        yield found


@pytest.fixture(scope="session")
def tab(chromium: Any) -> Iterator[Any]:
    """A browser's tab; to open another one takes twice as long as a page in it."""
    context = chromium.new_context(viewport=SIZE, reduced_motion="reduce")
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


@contextmanager
def heard(page: Any, event: str, action: Callable[[Any], None]) -> Iterator[None]:
    """Hear events of a page, within."""
    page.on(event, action)
    try:
        yield
    finally:
        page.remove_listener(event, action)


@pytest.fixture(name="heard")
def heard_fixture() -> Any:
    return heard


def clear(tab: Any) -> None:
    """Leave nothing of what a test did: the pages themselves keep nothing in a browser (test_pages.py)."""
    tab.unroute_all(behavior="ignoreErrors")
    tab.context.set_offline(False)
    tab.goto("about:blank")
    tab.context.clear_cookies()
    tab.set_viewport_size(SIZE)
    tab.mouse.move(0, 0)


@pytest.fixture
def page(tab: Any) -> Iterator[Any]:
    """An empty page; in the end nothing may have failed in it, and nothing may have left this machine."""
    mistakes: list[str] = []
    asked: list[str] = []
    with (
        heard(tab, "console", lambda said: mistakes.append(said.text) if said.type in ("error", "warning") else None),
        heard(tab, "pageerror", lambda error: mistakes.append(str(error))),
        heard(tab, "request", lambda request: asked.append(request.url)),
    ):
        yield tab
    clear(tab)
    assert not mistakes
    local = ("http://127.0.0.1:", "file:", "data:")
    assert [url for url in asked if not url.startswith(local)] == []
