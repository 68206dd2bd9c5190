"""A new option moves no run: the published ones are still those of the experiments."""

from pathlib import Path

import pytest

from lengthlab.paper.experiment import load_experiment, trials
from lengthlab.paper.scales import SCALE_NAMES, ScaleName
from lengthlab.paper.tables import Results

PUBLISHED: dict[ScaleName, Results] = {
    scale: results
    for scale in SCALE_NAMES
    if (results := Results(Path(__file__).parents[2] / "results" / scale)).experiments()
}


UNFINISHED: tuple[ScaleName, ...] = ("laptop",)  # where runs may still be missing


def test_there_is_something_published() -> None:
    assert PUBLISHED["mini"].experiments()


@pytest.mark.parametrize(
    ("scale", "name"), [(scale, name) for scale, all_ in PUBLISHED.items() for name in all_.experiments()]
)
def test_published_runs_are_those_of_the_experiments(scale: ScaleName, name: str) -> None:
    """None is a stranger, they stand in the same order, and none is missing, unless the grid is not finished."""
    members = PUBLISHED[scale].members(name)
    known = {member.run for member in members}
    planned = trials(load_experiment(name), scale, sorted({member.seed for member in members}))
    assert [
        (one.setting, one.seed, one.config.id) for one in planned if scale not in UNFINISHED or one.config.id in known
    ] == [(member.setting, member.seed, member.run) for member in members]
