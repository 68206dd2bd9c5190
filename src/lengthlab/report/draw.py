"""From the result tables of an experiment to its figure."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from lengthlab.errors import UserError, suggestion
from lengthlab.experiments.load import Experiment
from lengthlab.figures.data import Seed, Setting
from lengthlab.figures.errors_over_settings import error_panels
from lengthlab.figures.exact_match import best_of_seeds, exact_match_over_seeds, settings_grid
from lengthlab.figures.progress import evolution, loss_curves
from lengthlab.figures.reach import factor_by_training_length
from lengthlab.figures.scatter import inside_against_beyond
from lengthlab.figures.seeds import box_over_settings, order_grid
from lengthlab.results import Results

Figure = Callable[[Sequence[Setting], Path, str], list[Path]]

FIGURES: dict[str, Figure] = {
    "exact_match_over_seeds": exact_match_over_seeds,
    "best_of_seeds": best_of_seeds,
    "settings_grid": settings_grid,
    "box_over_settings": box_over_settings,
    "evolution": evolution,
    "loss_curves": loss_curves,
    "order_grid": order_grid,
    "factor_by_training_length": factor_by_training_length,
    "error_panels": error_panels,
    "inside_against_beyond": inside_against_beyond,
}
FIRST_PART = {"settings_grid", "loss_curves"}  # a panel for what stands before the first comma of a label
ALL_BUT_LAST = {"factor_by_training_length"}  # ... or before the last one


def draw(experiment: Experiment, results: Results, folder: Path) -> list[Path]:
    """Draw the figure of one experiment as folder/NAME.png, .svg and .pdf."""
    return draw_named(experiment.name, experiment.figure, results, folder)


def draw_named(name: str, figure: str, results: Results, folder: Path) -> list[Path]:
    """The same by the names of an experiment and of a figure."""
    if figure not in FIGURES:
        raise UserError(f"no figure {figure!r}; {suggestion(figure, FIGURES)}")
    return FIGURES[figure](settings_of(name, figure, results), folder / anchor(name), "")


def anchor(name: str) -> str:
    """A name as part of an address or a file's name; those of the paper's experiments stay as they are.

    >>> anchor("index-hints"), anchor("../my own: 1")
    ('index-hints', 'my-own-1')
    """
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-") or "experiment"


def settings_of(name: str, figure: str, results: Results) -> list[Setting]:
    """The settings of an experiment with their finished seeds, in declared order."""
    members = results.members(name)
    settings = []
    for label in results.settings(name):
        seeds, trained = [], 1
        for member in members:
            if member.setting != label:
                continue
            facts = results.trial(member.run)
            trained = facts["trained_digits"] or trained
            if facts["state"] == "finished":
                seeds.append(
                    Seed(
                        member.seed,
                        results.exact_match(member.run),
                        results.training(member.run),
                        results.evolution(member.run),
                        results.errors(member.run),
                        facts,
                    )
                )
        panel, variant = parts(label, figure)
        settings.append(Setting(label, trained, seeds, panel, variant))
    return settings


def parts(label: str, figure: str) -> tuple[str, str]:
    """The panel that a setting belongs to, and what sets it apart there.

    >>> parts("FIRE, no hints, short sums", "settings_grid")
    ('FIRE', 'no hints, short sums')
    >>> parts("FIRE, 25M, 1-10 digits", "factor_by_training_length")
    ('FIRE, 25M', '1-10 digits')
    >>> parts("2 layers, width 64", "box_over_settings")
    ('2 layers, width 64', '')
    """
    if figure in FIRST_PART:
        panel, _, variant = label.partition(", ")
    elif figure in ALL_BUT_LAST:
        panel, _, variant = label.rpartition(", ")
    else:
        panel, variant = label, ""
    return panel, variant
