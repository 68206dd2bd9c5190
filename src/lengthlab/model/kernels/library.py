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

import torch

# Read when the program starts: its kernels fit its Python code even if the files change while it runs.
SOURCES = {path.name: path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.[ch]*"))}
NUMBERS = {torch.float32: "float", torch.bfloat16: "Half"}  # what kernels read and write, by their own names
TILE = 6  # rows that a product computes at once, times two vectors: twelve of at least sixteen registers hold sums
ROWS = 8 * TILE  # tokens that go through half a block together
OPTIONS = (
    *("-O3", "-march=native", "-std=c++17", "-fno-math-errno", "-shared", "-fPIC"),
    *(f"-DTILE={TILE}", f"-DROWS={ROWS}"),
    "-fno-strict-aliasing",  # pairs of bf16 are read as one word
)


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
    about = [found, *OPTIONS, *definitions, platform.machine(), _processor()]
    digest = hashlib.sha256(b"".join(SOURCES.values()) + "\n".join(about).encode()).hexdigest()[:16]
    try:
        path = _cache_folder() / f"{name}-{digest}.so"
        if not path.exists():
            _compile([found, *OPTIONS, *definitions, f"{name}.cpp"], path)
        return ctypes.CDLL(str(path))
    except (OSError, subprocess.CalledProcessError):  # no writable folder, or a compiler that does not know an option
        return None


def _compile(command: list[str], path: Path) -> None:
    """Compile to a file beside the wanted one and rename it, since several processes may do so at once."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        for name, text in SOURCES.items():
            Path(folder, name).write_bytes(text)
        subprocess.run([*command, "-o", "made.so"], check=True, capture_output=True, cwd=folder)
        os.replace(Path(folder, "made.so"), path)


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
