"""`lengthlab doctor`: a sound run and a damaged one (attacks on run folders are in tests/trust)."""

import shutil
from collections.abc import Callable
from pathlib import Path


def test_a_sound_run_and_a_damaged_one(
    trained: Path, runs_folder: Path, lengthlab: Callable[..., tuple[int, str, str]]
) -> None:
    assert lengthlab("doctor", str(trained))[0] == 0
    copy = Path(shutil.copytree(trained, runs_folder / trained.name))
    (copy / "evaluation.json").write_text("[]")
    status, out, _ = lengthlab("doctor", copy.name)
    assert status == 1 and "evaluation.json" in out
