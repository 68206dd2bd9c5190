"""`lengthlab claims`: its mistakes, and the table of what seeds can decide (verdicts are in tests/paper)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lengthlab.paper import decide

Command = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((), "results/mini: no result tables"), (("fire-bset",), "no result tables")],
)
def test_mistakes(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lengthlab: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    status, _, err = lengthlab("claims", *arguments)
    assert status == 2 and message in err and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_power_is_a_table(monkeypatch: pytest.MonkeyPatch, lengthlab: Command) -> None:
    monkeypatch.setattr(decide, "DRAWN", 3)
    status, out, _ = lengthlab("claims", "--power")
    assert status == 0 and "seed by seed" in out and "as independent" in out
