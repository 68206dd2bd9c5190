"""`lengthlab figure`: exact match by length, a line for each run."""

from collections.abc import Sequence
from pathlib import Path

from lengthlab.errors import UserError
from lengthlab.figures.exact_match import Curve, exact_match_by_length
from lengthlab.runs import Run


def draw_runs(runs: Sequence[Run], path: Path, title: str) -> list[Path]:
    """Draw the stored evaluations of `runs`."""
    if not path.name:
        raise UserError("--out: name a file, such as exact-match")
    curves = []
    for run in runs:
        rows = run.evaluation
        if not rows:
            raise UserError(f"run {run.id} has no evaluation yet (it is {run.status.get('state', 'unfinished')})")
        config = run.config
        label = f"{run.id}: {config.encoding.kind}, {config.positions.kind} ids, seed {config.seeds.weights}"
        curves.append(Curve(label, rows, config.training.digits))
    return exact_match_by_length(curves, path, title)
