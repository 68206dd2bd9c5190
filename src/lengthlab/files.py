"""Writing files so that a reader never sees half of one."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lengthlab.errors import UserError


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write to a temporary name in the same folder, sync, and rename."""
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    write_atomically(path, json.dumps(value, indent=2) + "\n")


def _line(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def append_line(path: Path, value: Any) -> None:
    """Append one JSON line."""
    append_lines(path, [value])


def append_lines(path: Path, values: Iterable[Any]) -> None:
    """Append JSON lines, all or none of them."""
    rest = b"".join(map(_line, values))
    with open(path, "ab", buffering=0) as file:
        before = file.seek(0, os.SEEK_END)
        try:
            while rest:  # on a full disk a write may take a part of it
                rest = rest[file.write(rest) :]
        except OSError:
            file.truncate(before)
            raise


def write_lines(path: Path, values: Iterable[Any]) -> None:
    """A file of JSON lines, all at once."""
    write_atomically(path, b"".join(map(_line, values)))


def read_lines(path: Path) -> list[Any]:
    """The JSON lines of a file; a last line cut short by a kill is left out."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    complete = text[: text.rfind("\n") + 1]
    values = []
    for number, line in enumerate(complete.splitlines(), start=1):
        try:
            values.append(json.loads(line))
        except ValueError:
            raise UserError(f"{path}: line {number} is damaged (not valid JSON); remove that line") from None
    return values
