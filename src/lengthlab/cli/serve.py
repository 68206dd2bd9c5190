"""`lengthlab serve`: a page on this machine that shows models add, where they look, and what runs found."""

import importlib.util
import os
import secrets
import socket
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lengthlab.cli.console import Screen
from lengthlab.errors import UserError

PORT = 8421


def serve(
    *,
    port: Annotated[int, Parameter(help="Port to listen on; 0 for any that is free.")] = PORT,
    host: Annotated[str, Parameter(help="Address to listen on; any other needs a token.")] = "127.0.0.1",
    results: Annotated[Path, Parameter(help="Folder of result tables for the claims.")] = Path("results/mini"),
) -> None:
    """Serve a web page: models that add, where they look, runs, comparisons, claims."""
    if not all(importlib.util.find_spec(name) for name in ("fastapi", "uvicorn")):
        raise UserError("serve needs fastapi and uvicorn: pip install 'lengthlab[web]'")
    from lengthlab.web.guard import is_loopback

    token = None if is_loopback(host) else os.environ.get("LENGTHLAB_TOKEN") or secrets.token_urlsafe(24)
    with _listen(host, port) as listening:
        _serve(listening, host, token, results)


def _serve(listening: socket.socket, host: str, token: str | None, results: Path) -> None:
    port = listening.getsockname()[1]

    import torch
    import uvicorn

    from lengthlab.runs.run import runs_folder
    from lengthlab.web.server import make_app

    torch.set_num_threads(1)  # small models gain nothing from more, and the page stays quick
    app = make_app(runs_folder(), results, host, port, token)
    shown = f"[{host}]" if ":" in host else host
    Screen().put(f"http://{shown}:{port}/{f'?token={token}' if token else ''}  (Ctrl-C ends)")
    settings = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=2
    )
    with listening:
        uvicorn.Server(settings).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens, or a sentence that says why not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host.strip("[]"), port))
        listening.listen(128)  # from now on a browser waits instead of being refused
    except (OSError, OverflowError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(f"--host {host} --port {port}: {reason}; --port 0 takes any port that is free") from None
    return listening
