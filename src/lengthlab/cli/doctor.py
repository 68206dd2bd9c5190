"""`lengthlab doctor`: is this installation sound, and is this run?"""

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lengthlab.cli.console import Screen, plural, print_json, size
from lengthlab.cli.parameters import Json

OLDEST = {"torch": (2, 5), "numpy": (1, 26), "pydantic": (2, 0), "safetensors": (0, 4), "duckdb": (1, 0)}
LEAST_MEMORY, LEAST_DISK = 2e9, 1e9  # bytes


def doctor(
    *runs: Annotated[str, Parameter(help="Runs to examine, by folder or id; the installation if none is named.")],
    as_json: Json = False,
) -> None:
    """Check this installation, or runs: what is wrong, and how to fix it.

    Exits with status 1 if anything is wrong.
    """
    checks = [check for name in runs for check in _run(name)] if runs else list(_installation())
    if as_json:
        print_json([{"what": what, "found": found, "mend": mend} for what, found, mend in checks])
    else:
        _print(checks)
    if any(mend for _, _, mend in checks):
        sys.exit(1)


Checked = tuple[str, str, str]  # what was looked at, what was found, and how to mend it: nothing if it is sound


def _print(checks: list[Checked]) -> None:
    console, width = Screen(), max(len(what) for what, _, _ in checks)
    for what, found, mend in checks:
        console.put(f"{'!!' if mend else 'ok'}  {what:<{width}}  {found}", "red" if mend else "")
        if mend:
            console.put(f"    {'':<{width}}  {mend}")
    wrong = sum(bool(mend) for _, _, mend in checks)
    console.say(f"{plural(wrong, 'thing')} to mend" if wrong else "nothing to mend")


def _installation() -> Iterator[Checked]:
    found = platform.python_version()
    yield "python", found, "" if sys.version_info >= (3, 11) else "install Python 3.11 or newer"
    for name, oldest in OLDEST.items():
        wanted = ".".join(map(str, oldest))
        try:
            here = version(name)
        except PackageNotFoundError:
            yield name, "missing", f"pip install '{name}>={wanted}'"
            continue
        parts = tuple(int(part) for part in here.split(".")[:2] if part.isdecimal())
        yield name, here, "" if parts >= oldest else f"pip install '{name}>={wanted}'"
    yield from _machine()
    from lengthlab.runs.run import runs_folder

    yield _writable("runs", runs_folder())
    yield _writable("temporary files", Path(tempfile.gettempdir()))


def _machine() -> Iterator[Checked]:
    from lengthlab.model.kernels.library import compiler
    from lengthlab.runs.environment import memory_bytes
    from lengthlab.training.hardware import has_fast_bf16

    found = compiler()
    yield "C++ compiler", str(found or "none: kernels and torch.compile are not used, training is slower"), ""
    yield "bf16", "in hardware" if has_fast_bf16() else "not in hardware: fp32 is used", ""
    memory = memory_bytes()
    yield "memory", size(memory), "" if memory >= LEAST_MEMORY else f"training needs {size(LEAST_MEMORY)} or more"
    yield "processor cores", str(os.cpu_count()), ""


def _writable(what: str, folder: Path) -> Checked:
    """Whether files can be written to a folder, or to the nearest one above it that exists."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    try:
        with tempfile.NamedTemporaryFile(dir=there, prefix=".lengthlab-"):
            free = shutil.disk_usage(there).free
    except OSError as error:
        return what, f"{there}: {error.strerror}", "choose another folder with LENGTHLAB_RUNS or TMPDIR"
    return what, f"{there}, {size(free)} free", "" if free >= LEAST_DISK else f"free {size(LEAST_DISK)} or more"


def _run(name: str) -> Iterator[Checked]:
    from lengthlab.runs.run import Run
    from lengthlab.training.doctor import examine

    run = Run.find(name)
    examined = examine(run)
    state = run.known_status().get("state", "unknown")
    yield run.id, ", ".join([str(state), *examined.looked_at]), ""
    for finding in examined.findings:
        yield run.id, finding.wrong, finding.cure
