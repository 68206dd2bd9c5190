"""What a run is made with: versions, commit, machine."""

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGES = ("lengthlab", "torch", "numpy", "pydantic", "safetensors")
MEMORY_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container


def describe(**choices: Any) -> dict[str, Any]:
    """Versions, commit, CPU and threads, with `choices` (such as the precision) beside them."""
    import torch

    return {
        "python": platform.python_version(),
        "packages": versions(),
        "commit": commit(),
        "platform": platform.platform(),
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        **choices,
    }


@cache
def versions() -> dict[str, str]:
    return {name: version(name) for name in PACKAGES}


def cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def memory_bytes() -> int:
    """All memory that this process can ever get."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for path in MEMORY_LIMITS:
        try:
            found.append(int(Path(path).read_text()))
        except (OSError, ValueError):  # there is none, or "max"
            continue
    return min(found)


@cache
def commit() -> str | None:
    """The commit of the source tree, with + if files differ from it; None outside a checkout."""
    folder = Path(__file__).parent

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True
        ).stdout.strip()

    try:
        return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return None
