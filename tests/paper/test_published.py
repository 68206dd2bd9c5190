"""A new option moves no run: the published ones are still those of the experiments."""

from pathlib import Path

import pytest

from lengthlab.paper.experiment import load_experiment, trials
from lengthlab.paper.tables import Results

RESULTS = Results(Path(__file__).parents[2] / "results" / "mini")


@pytest.mark.parametrize("name", RESULTS.experiments())
def test_published_runs_are_those_of_the_experiments(name: str) -> None:
    members = RESULTS.members(name)
    planned = trials(load_experiment(name), "mini", sorted({member.seed for member in members}))
    assert [(one.setting, one.seed, one.config.id) for one in planned] == [
        (member.setting, member.seed, member.run) for member in members
    ]
