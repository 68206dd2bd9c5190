"""Runs command lines, each in a fork of this process: as separate as processes of their own, without their imports.

One line of JSON asks for a command, one line answers:

    {"folder", "arguments", "environment", "paths"} -> {"status", "out", "err"}
"""

import json
import os
import sys
import tempfile
import traceback

import torch

from lengthlab.cli.app import main


def run(folder: str, arguments: list[str], environment: dict[str, str], paths: list[str]) -> int:
    """What a process of its own would do, with `paths` on its path."""
    os.chdir(folder)
    os.environ |= environment
    sys.path[:0] = paths
    torch.set_num_threads(1)
    try:
        main(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def serve() -> None:
    """Answer until there is nobody who asks."""
    for line in sys.stdin:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = os.fork()
            if child == 0:
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                status = run(**json.loads(line))
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
            answer: dict[str, int | str] = {"status": os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}
            for name, file in {"out": out, "err": err}.items():
                file.seek(0)
                answer[name] = file.read().decode()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()
