"""The figure of an experiment from its result tables."""

from pathlib import Path

from lengthlab.experiments.load import Experiment
from lengthlab.figures.exact_match import Curve, exact_match_by_length
from lengthlab.results import Results


def draw(experiment: Experiment, results: Results, folder: Path) -> list[Path]:
    """Draw exact match by length, a line for each run."""
    curves = [
        Curve(f"{member.setting}, seed {member.seed}", rows, results.trial(member.run)["trained_digits"])
        for member in results.members(experiment.name)
        if (rows := results.exact_match(member.run))
    ]
    return exact_match_by_length(curves, folder / experiment.name, experiment.question)
