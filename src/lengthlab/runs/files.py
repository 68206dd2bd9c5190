"""Files of a run: written whole, read with care.

Writing never leaves half a file for a reader to find. Reading trusts nothing: a folder may have been copied from
anywhere, so only regular files up to a limit are opened, and whatever is wrong is one exception, `Damaged`, with a
reason of a few words.
"""

import errno
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lengthlab.config import yaml_text
from lengthlab.errors import UserError

SMALL, LARGE, LARGEST = 2**24, 2**30, 2**40  # bytes: of a config or a status, of a file of lines, of weights
CUT_SHORT = "cut short"  # the reason for a last line without its end, as a killed process leaves it


class Damaged(UserError):
    """A file is not what was written. `rows` counts the lines or rows concerned, 0 for the whole file."""

    def __init__(
        self,
        path: Path,
        reason: str,
        rows: int = 0,
        cure: str = "remove it, or train the run again with --fresh",
    ) -> None:
        super().__init__(f"{path}: damaged ({reason}); {cure}")
        self.path = path
        self.reason = reason
        self.rows = rows


def plainly(path: str | Path, flags: int) -> int:
    """Open a file for `open`, but no symbolic link, which could lead anywhere, and without waiting for a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)


def write_atomically(path: Path, content: bytes | str) -> None:
    """Write to a temporary name in the same folder, sync, rename, and sync the folder, which holds the new name."""
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    with _named(path):
        try:
            with open(temporary, "wb", opener=plainly) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        sync(path.parent)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on disk."""
    with _named(path):
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name the file in errors of the system, some of which name none (a full disk) or the temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename = str(path)
        raise


def write_json(path: Path, value: Any) -> None:
    write_atomically(path, json.dumps(value, indent=2) + "\n")


def write_lines(path: Path, values: Iterable[Any]) -> None:
    """A file of JSON lines, all at once."""
    write_atomically(path, b"".join(map(_line, values)))


def append_line(path: Path, value: Any) -> None:
    """Append one JSON line."""
    append_lines(path, [value])


def append_lines(path: Path, values: Iterable[Any]) -> None:
    """Append JSON lines, all or none of them."""
    rest = b"".join(map(_line, values))
    with _named(path), open(path, "ab", buffering=0, opener=plainly) as file:
        before = file.seek(0, os.SEEK_END)
        try:
            while rest:  # on a full disk a write may take only part of it
                rest = rest[file.write(rest) :]
        except OSError:
            file.truncate(before)
            raise


def _line(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def read_bytes(path: Path, limit: int = SMALL, most: int | None = None) -> bytes:
    """A regular file of at most `limit` bytes, or its first `most`; FileNotFoundError if there is none."""
    try:
        descriptor = plainly(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise FileNotFoundError(error.errno, error.strerror, str(path)) from None
    except OSError as error:
        reason = "a symbolic link" if error.errno == errno.ELOOP else error.strerror or "cannot be opened"
        raise Damaged(path, reason) from None
    try:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode) or not stat.S_ISREG(found.st_mode):
            raise Damaged(path, "a folder" if stat.S_ISDIR(found.st_mode) else "not a regular file")
        if found.st_size > limit:
            raise Damaged(path, f"larger than {limit // 2**20} MiB")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(min(found.st_size, found.st_size if most is None else most))
    finally:
        os.close(descriptor)


def read_text(path: Path, limit: int = SMALL) -> str:
    try:
        return read_bytes(path, limit).decode()
    except UnicodeDecodeError:
        raise Damaged(path, "not text") from None


def read_json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError):
        raise Damaged(path, "not valid JSON") from None


def parse_yaml(path: Path, text: str) -> Any:
    """What the text of a YAML file holds."""
    try:
        return yaml_text.parse_yaml(text)
    except yaml_text.NotYaml as error:
        raise Damaged(path, f"not valid YAML: {error}") from None


def read_rows(path: Path, check: Callable[[Any], str] = lambda value: "") -> tuple[list[Any], list[tuple[int, str]]]:
    """The sound lines of a JSON lines file, and the number and the reason of each other line.

    `check` says what is wrong with a value, or nothing. A file that is not there has no lines.
    """
    try:
        return parse_rows(read_bytes(path, LARGE), check)
    except FileNotFoundError:
        return [], []


def parse_rows(content: bytes, check: Callable[[Any], str]) -> tuple[list[Any], list[tuple[int, str]]]:
    """The same from the content of a file."""
    lines = content.split(b"\n")
    sound, broken = [], []
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        if number == len(lines):
            broken.append((number, CUT_SHORT))
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            broken.append((number, "not valid JSON"))
            continue
        if reason := check(value):
            broken.append((number, reason))
        else:
            sound.append(value)
    return sound, broken


def read_lines(path: Path, check: Callable[[Any], str] = lambda value: "") -> list[Any]:
    """All lines of a JSON lines file but for a last one cut short; any other damage is raised."""
    sound, broken = read_rows(path, check)
    for number, reason in broken:
        if reason != CUT_SHORT:
            raise Damaged(path, f"line {number}: {reason}", cure="remove that line")
    return sound
