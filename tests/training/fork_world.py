"""torchrun and the processes that it starts as forks of one process, which imports torch once for all of them.

    python fork_world.py serve SOCKET           the process that forks, until its input is closed
    python fork_world.py SOCKET torchrun ...    the command in a fork of it; from outside, a process like any other
    python fork_world.py SOCKET lengthlab ...

A fork has the environment, the folder and the output of the process that asked for it, and gets its signals.
"""

import json
import os
import select
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import Any


def ask(address: str, command: list[str]) -> int:
    """Be the command: hand over what a new process would inherit, pass signals on, end with its exit status."""
    asked = {"command": command, "folder": str(Path.cwd()), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(address)
        socket.send_fds(line, [len(message := json.dumps(asked).encode()).to_bytes(4)], [1, 2])
        line.sendall(message)
        with line.makefile() as answers:
            child = int(answers.readline())
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda received, _: os.kill(child, received))
            return int(answers.readline())


def serve(address: str) -> None:
    """Fork for everybody who asks; each is looked after by a process that waits for the end of its command."""
    from torch.distributed.run import main as torchrun

    from lengthlab.cli.app import main as lengthlab
    from lengthlab.training import loop  # noqa: F401 (or every fork would import it)

    commands = {"torchrun": torchrun, "lengthlab": lengthlab}
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("ready", flush=True)
        guardians: list[int] = []
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            line, _ = listening.accept()
            size, outputs, *_ = socket.recv_fds(line, 4, 2)
            asked = json.loads(line.makefile("rb").read(int.from_bytes(size)))
            guardians.append(os.fork())
            if guardians[-1] == 0:
                guard(line, commands[asked["command"][0]], asked, outputs)
            for end in (line.detach(), *outputs):
                os.close(end)
    for guardian in guardians:
        os.waitpid(guardian, 0)


def guard(line: socket.socket, main: Any, asked: dict[str, Any], outputs: list[int]) -> None:
    """Fork the command, tell its number and, when it has ended, its status."""
    child = os.fork()
    if child == 0:
        line.close()
        become(main, asked, outputs)
    for end in outputs:  # or a reader would wait for this process too
        os.close(end)
    for end in (1, 2):
        os.close(end)
    line.sendall(f"{child}\n".encode())
    line.sendall(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n".encode())
    os._exit(0)


def become(main: Any, asked: dict[str, Any], outputs: list[int]) -> None:
    """Run the command as a new process would."""
    for output, end in zip(outputs, (1, 2), strict=True):
        os.dup2(output, end)
        os.close(output)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    status = 1
    try:
        main(asked["command"][1:])
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        sys.exit(ask(sys.argv[1], sys.argv[2:]))
