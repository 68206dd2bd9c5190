"""results/no-aids: every setting can be trained, and none of them is told anything by code."""

from pathlib import Path

from lengthlab.config.aids import is_unaided
from lengthlab.config.checks import check
from lengthlab.paper.experiment import load_experiment, settings

FOLDER = Path(__file__).parents[2] / "results" / "no-aids"


def test_every_setting_can_be_trained_and_is_told_nothing() -> None:
    experiment = load_experiment(str(FOLDER / "no-aids.yaml"))
    for config in [*settings(experiment, "laptop").values(), *settings(experiment, "smoke").values()]:
        check(config)
        assert is_unaided(config)
