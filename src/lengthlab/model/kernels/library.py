"""Compile a kernel once on a machine, and load it.

The compiled file is kept in the user's cache folder (or in `LENGTHLAB_CACHE`), under a name that follows from source,
options and processor. `LENGTHLAB_KERNELS=off` does without kernels: everything then runs in plain
torch, with the same results up to rounding.
"""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
OPTIONS = ("-O3", "-march=native", "-std=c++17", "-fno-math-errno", "-shared", "-fPIC")


def compiler() -> str | None:
    """The C++ compiler that is found first."""
    names = (os.environ.get("CXX") or "g++", "clang++", "c++")
    return next((found for name in names if (found := shutil.which(name))), None)


def library(name: str, *definitions: str) -> ctypes.CDLL | None:
    """The kernels of a source file, or None where they cannot be had."""
    return None if os.environ.get("LENGTHLAB_KERNELS") == "off" else _library(name, definitions)


@cache
def _library(name: str, definitions: tuple[str, ...]) -> ctypes.CDLL | None:
    found = compiler()
    if found is None:
        return None
    sources = b"".join(path.read_bytes() for path in (FOLDER / f"{name}.cpp", FOLDER / "vectors.h"))
    about = [found, *OPTIONS, *definitions, platform.machine(), _processor()]
    digest = hashlib.sha256(sources + "\n".join(about).encode()).hexdigest()[:16]
    try:
        path = _cache_folder() / f"{name}-{digest}.so"
        if not path.exists():
            _compile([found, *OPTIONS, *definitions, str(FOLDER / f"{name}.cpp")], path)
        return ctypes.CDLL(str(path))
    except (OSError, subprocess.CalledProcessError):  # no writable folder, or a compiler that does not know an option
        return None


def _compile(command: list[str], path: Path) -> None:
    """Compile to a file beside the wanted one and rename it, since several processes may do so at once."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".so")
    os.close(handle)
    try:
        subprocess.run([*command, "-o", temporary], check=True, capture_output=True)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _cache_folder() -> Path:
    if chosen := os.environ.get("LENGTHLAB_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lengthlab"


def _processor() -> str:
    """What the processor can do, as far as the system says: a cache may be shared by different machines."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")
