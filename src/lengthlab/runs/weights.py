"""What the head of a safetensors file says of its weights."""

import json
from math import prod
from pathlib import Path

from lengthlab.runs.columns import is_whole
from lengthlab.runs.files import LARGEST, SMALL, Damaged, read_bytes

BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "U8": 1, "BOOL": 1}  # of a weight


def read_parameters(path: Path) -> int:
    """How many weights a safetensors file holds, from the shapes in its head, which must fit the bytes after it."""
    size = int.from_bytes(read_bytes(path, LARGEST, most=8), "little")
    head = read_bytes(path, LARGEST, most=8 + size)[8:] if size <= SMALL else b""
    try:
        entries = [entry for name, entry in json.loads(head).items() if name != "__metadata__"]
        counts = [prod(entry["shape"]) for entry in entries]
        wanted = sum(count * BYTES[entry["dtype"]] for count, entry in zip(counts, entries, strict=True))
    except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
        raise Damaged(path, "not safetensors") from None
    if not all(map(is_whole, counts)) or path.stat().st_size != 8 + size + wanted:
        raise Damaged(path, "not safetensors")
    return sum(counts)
