"""Whatever becomes of a file of a run, commands mend it or say it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.slow
def test_damage_to_any_file_is_mended_or_said_by_every_command(
    record_property: Callable[[str, object], None], tmp_path: Path
) -> None:
    command = [sys.executable, str(Path(__file__).with_name("damage.py"))]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, env=environment)
    assert done.returncode == 0, done.stderr
    states = json.loads(done.stdout)
    for state, found in states.items():
        assert found["damaged"] > 40 and not found["wrong"], (state, found["wrong"])
    assert not states["finished"]["refused"]  # every command does something with a sound run
    record_property("damage", sum(found["commands"] for found in states.values()))
