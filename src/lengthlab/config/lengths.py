"""Ranges of digit lengths as people type them, on the command line and in recipes."""

import re
from collections.abc import Iterable

LONGEST = 100_000


def parse_lengths(text: str, lowest: int = 1) -> tuple[int, ...]:
    """Whole numbers in order, each once.

    >>> parse_lengths("1-3,10")
    (1, 2, 3, 10)
    """
    lengths: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,18})(?:-([0-9]{1,18}))?\s*", part)
        if not match:
            raise ValueError(f"{part!r} is not a number or a range such as 1-20")
        low, high = int(match[1]), int(match[2] or match[1])
        if low < lowest or high < low or high > LONGEST:
            raise ValueError(f"{part.strip()!r} must go upwards from at least {lowest} to at most {LONGEST:,}")
        lengths.update(range(low, high + 1))
    return tuple(sorted(lengths))


def lengths_text(lengths: Iterable[int]) -> str:
    """The shortest way to type some lengths.

    >>> lengths_text((1, 2, 3, 10))
    '1-3,10'
    """
    runs: list[list[int]] = []
    for length in sorted(set(lengths)):
        if runs and runs[-1][1] == length - 1:
            runs[-1][1] = length
        else:
            runs.append([length, length])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)
