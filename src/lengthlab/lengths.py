"""Ranges of digit lengths as people type them, on the command line and in recipes."""

import re


def parse_lengths(text: str) -> tuple[int, ...]:
    """Lengths in order, each once.

    >>> parse_lengths("1-3,10")
    (1, 2, 3, 10)
    """
    lengths: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if not match:
            raise ValueError(f"{part!r} is not a length or a range such as 1-20")
        low, high = int(match[1]), int(match[2] or match[1])
        if low < 1 or high < low:
            raise ValueError(f"{part.strip()!r} must go upwards from at least 1")
        lengths.update(range(low, high + 1))
    return tuple(sorted(lengths))
