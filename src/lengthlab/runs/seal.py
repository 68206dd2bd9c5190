"""What a run's files should hold: status.json keeps a SHA-256 of each, and a checksum of itself.

    "files": {"metrics.jsonl": ["9f2c..."], "model.safetensors": ["", "51d0..."]}

A file may match any of its list: new weights are listed before they replace the old, so that a process may die between
the two, and "" stands for no file at all. Files that are not listed are not checked: earlier versions listed none.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lengthlab.runs.files import LARGE, LARGEST, Damaged, plainly, read_bytes, sync, write_json

WEIGHTS = {"last": "model.safetensors", "best": "best.safetensors", "ema": "ema.safetensors"}
SEALED = ("config.yaml", "environment.json", "metrics.jsonl", "speed.jsonl", "starts.jsonl", "evaluation.json")
CHANGED, MISSING = "changed since it was written", "missing"
CURE = "lengthlab doctor {} says what can be mended, --trust uses it as it is"
TRUST = "LENGTHLAB_TRUST"  # set by --trust, for child processes too


def trusted() -> bool:
    """Whether the user has asked to use files that are not what was written."""
    return os.environ.get(TRUST) == "1"


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def digest_of(path: Path) -> str:
    """Of a file; empty if there is none."""
    try:
        with open(path, "rb", opener=plainly) as file:
            if os.fstat(file.fileno()).st_size > (LARGEST if path.suffix == ".safetensors" else LARGE):
                return "unreadable"  # no run writes so much
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""
    except OSError:
        return "unreadable"


def of_lines(path: Path, most: int | None = None) -> dict[str, Any]:
    """How many lines a file has, or the first `most` of them, and their SHA-256. They are on disk when this returns."""
    try:
        lines = read_bytes(path, LARGE).splitlines(keepends=True)[:most]
        sync(path)
    except FileNotFoundError:
        lines = []
    return {"lines": len(lines), "sha256": digest(b"".join(lines))}


def reason(path: Path, status: dict[str, Any]) -> str:
    """Why a file of a run is not what the run's status lists; empty if it is, or if nothing is listed."""
    files = status.get("files")
    listed = files.get(path.name) if isinstance(files, dict) else None
    if not isinstance(listed, list) or (found := digest_of(path)) in listed:
        return ""
    return CHANGED if found else MISSING


def require(path: Path, status: dict[str, Any]) -> None:
    """Raise Damaged if a file is not what the status lists, unless the user trusts it."""
    if not trusted() and (wrong := reason(path, status)):
        raise Damaged(path, wrong, cure=CURE.format(path.parent))


def damage(folder: Path, status: dict[str, Any]) -> Iterator[Damaged]:
    """Every file of a run that is not what its status lists."""
    for name in (*SEALED, *WEIGHTS.values(), "errors.json"):
        if wrong := reason(folder / name, status):
            yield Damaged(folder / name, wrong, cure=CURE.format(folder))


def write_status(path: Path, status: dict[str, Any]) -> None:
    status = {name: value for name, value in status.items() if name != "checksum"}
    write_json(path, status | {"checksum": _checksum(status)})


def is_intact(status: dict[str, Any]) -> bool:
    """Whether a status fits its own checksum, if it has one."""
    kept = status.get("checksum")
    return kept is None or kept == _checksum({name: value for name, value in status.items() if name != "checksum"})


def _checksum(status: dict[str, Any]) -> str:
    return digest(json.dumps(status, sort_keys=True).encode())[:16]
