"""`lengthlab analyse`: what the wrong answers of trained runs have in common, and where their heads look."""

import json
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from rich.console import Console

from lengthlab.errors import UserError
from lengthlab.lengths import parse_lengths


def analyse(
    *runs: Annotated[str, Parameter(help="Folders or ids of runs; several are averaged.")],
    digits: Annotated[
        str | None, Parameter(help="Lengths, such as 12-15; if not given, where the run begins to fail.")
    ] = None,
    examples: Annotated[int, Parameter(help="Sums of each length.")] = 500,
    sum_: Annotated[
        str | None, Parameter(name="--sum", help='Draw the attention for this sum, such as "123+456".')
    ] = None,
    weights: Annotated[
        Literal["last", "best", "ema"],
        Parameter(help="The last weights, the best on lengths of training, or the average."),
    ] = "last",
    out: Annotated[
        Path | None, Parameter(help="Folder for figures and analysis.json; if not given, analysis in the run's folder.")
    ] = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON.")] = False,
) -> None:
    """Why answers are wrong: the kinds of mistakes, with examples and figures, and what the attention looks at."""
    if not runs:
        raise UserError("analyse: name at least one run")
    if examples < 1:
        raise UserError("--examples: at least 1")
    if sum_ is not None and len(runs) > 1:
        raise UserError("--sum: draws the attention of one run; name a single run")
    try:
        lengths = parse_lengths(digits) if digits is not None else None
    except ValueError as error:
        raise UserError(f"--digits: {error}") from None
    from lengthlab.runs import Run, runs_folder

    found = [Run.find(name) for name in runs]
    if len({run.path.resolve() for run in found}) < len(found):
        raise UserError("analyse: a run is named twice")
    folder = out or (found[0].path / "analysis" if len(found) == 1 else runs_folder() / "analysis")
    from lengthlab.commands.analyse_runs import analyse_runs

    result = analyse_runs(found, lengths, examples, sum_, weights, folder, Console(stderr=True))
    if as_json:
        print(json.dumps(result, indent=2))
        return
    from lengthlab.commands.analyse_page import print_page

    print_page(result, Console())
