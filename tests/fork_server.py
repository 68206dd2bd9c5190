"""Runs Python command lines, each in a fork of this process: as separate as processes of their own, without imports.

A request is one line of JSON, {"arguments", "folder", "environment"}, with the three standard files. It is answered by
two lines: the number of the process, and its exit status.
"""

import gc
import json
import os
import runpy
import socket
import sys
from pathlib import Path
from typing import Any

import cyclopts.help  # noqa: F401
import numpy.random  # noqa: F401
import pydantic.functional_validators
import pydantic.root_model  # noqa: F401
import rich.console
import rich.markup
import rich.progress
import rich.table  # noqa: F401
import safetensors.torch  # noqa: F401
import torch
import yaml  # noqa: F401

LONGEST = 2**20


def requests() -> dict[str, Any]:
    """Fork for each request; returns it in the fork, and only there: the server ends when there is nobody who asks."""
    gc.freeze()  # or each fork would look for garbage in all of torch before it ends
    asked = socket.socket(fileno=sys.stdin.fileno())
    while True:
        request, files, _, _ = socket.recv_fds(asked, LONGEST, 3)
        if not request:
            os._exit(0)
        while not request.endswith(b"\n"):
            request += asked.recv(LONGEST)
        if not (fork := os.fork()):
            asked.detach()
            for standard, file in enumerate(files):
                os.dup2(file, standard)
                os.close(file)
            return json.loads(request)
        for file in files:
            os.close(file)
        asked.sendall(b"%d\n" % fork)
        asked.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]))


def run(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """What `python *arguments` does in a folder: with -c, -m or a script."""
    os.chdir(folder)
    os.environ.clear()
    os.environ |= environment
    sys.path[:1] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    torch.set_num_threads(1)
    option, what, *rest = arguments if arguments[0] in ("-c", "-m") else ("", *arguments)
    sys.argv = [option or what, *rest]
    if option == "-c":
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
    elif option == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(what).parent)
        runpy.run_path(what, run_name="__main__")


if __name__ == "__main__":
    run(**requests())
