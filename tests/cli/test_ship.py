"""`lengthlab ship`: a run as a model in the box."""

from pathlib import Path

import pytest

from lengthlab.cli.ship import ship_run
from lengthlab.errors import UserError
from lengthlab.export.file import read_facts
from lengthlab.runs.run import Run


def test_a_run_can_be_packed(trained: Path, tmp_path: Path) -> None:
    weights, card = ship_run(Run(trained), "mine", "The only one.", [4, 6], 8, tmp_path)
    facts = read_facts(weights)
    assert [(score.digits, score.examples) for score in facts.scores][-2:] == [(5, 16), (6, 8)]
    assert "The only one." in card.read_text() and "| 6 * |" in card.read_text()
    with pytest.raises(UserError, match="say in a sentence"):
        ship_run(Run(trained), "mine", " ", [], 8, tmp_path)
