"""`lengthlab figure`: exact match by length, a line for each run."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lengthlab.cli.console import Screen, print_json
from lengthlab.cli.parameters import Json, RunNames, place_for
from lengthlab.errors import UserError


def figure(
    *runs: RunNames,
    out: Annotated[Path, Parameter(help="Where to draw; .png, .svg and .pdf are added.")] = Path("exact-match"),
    title: Annotated[str, Parameter(help="Title of the figure; by default, what it shows.", show_default=False)] = "",
    as_json: Json = False,
) -> None:
    """Draw exact match by length, a line for each run."""
    if not runs:
        raise UserError("figure: name at least one run")
    place_for(out)
    from lengthlab.config.aids import aid_sentences
    from lengthlab.config.checks import why_no_longer
    from lengthlab.figures.curves import Curve, exact_match_by_length
    from lengthlab.runs.labels import run_labels
    from lengthlab.runs.run import Run

    found = [Run.find(run) for run in runs]
    for run in found:
        if not run.evaluation:
            raise UserError(f"run {run.id} has no evaluation yet (it is {run.status.get('state', 'unfinished')})")
    configs = [run.config for run in found]
    settings = [config.model_dump(mode="json") for config in configs]
    labels = run_labels(settings, [run.id for run in found], [run.recipe for run in found])
    curves = []
    for run, config, label in zip(found, configs, labels, strict=True):
        rows = run.evaluation or []
        ends = why_no_longer(config, rows[-1]["digits"])
        curves.append(Curve(label, rows, config.training.digits, aid_sentences(config), ends))
    files = [str(file) for file in exact_match_by_length(curves, out, title)]
    if as_json:
        print_json(files)
    else:
        for file in files:
            Screen().put(file)
