"""Whenever a process dies, the next one ends with the same bits."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.mark.slow
def test_a_run_may_be_killed_before_each_of_its_file_operations(
    record_property: Callable[[str, object], None], tmp_path: Path
) -> None:
    command = [sys.executable, str(Path(__file__).with_name("chaos.py"))]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, env=environment)
    assert done.returncode == 0, done.stderr
    variants = json.loads(done.stdout)
    for name, found in variants.items():
        assert found["deaths"] > 50 and not found["lost"] and not found["different"], (name, found)
    record_property("deaths", sum(found["deaths"] for found in variants.values()))
