"""`lengthlab demo`: its mistakes (the page itself is tested in tests/web)."""

from collections.abc import Callable
from pathlib import Path


def test_mistakes(lengthlab: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    assert "did you mean robust?" in lengthlab("demo", "--model", "robst")[2]
    assert "is a folder" in lengthlab("demo", "--out", str(tmp_path))[2]
