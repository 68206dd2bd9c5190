"""The mistakes of a run as rows of a result table, kept in its folder: `runs/<id>/errors.json`."""

from collections.abc import Sequence
from typing import Any

from lengthlab.analysis.attempts import attempt, require_sums
from lengthlab.analysis.errors import Summary, summarise
from lengthlab.analysis.verdicts import judge
from lengthlab.evaluation.load import load_model
from lengthlab.files import write_json
from lengthlab.results import ALL_LENGTHS
from lengthlab.runs import Run

MEASURES = ("first", "marks", "carry", "fifths", "counts", "shifts")


def write_error_rows(run: Run, examples: int = 200) -> None:
    """Analyse a finished run on its tested lengths beyond training, unless that was done before."""
    path = run.path / "errors.json"
    if path.exists():
        return
    model, pipeline = load_model(run)
    require_sums(pipeline, run.id)
    config = run.config
    lengths = [digits for digits in config.evaluation.digits if digits > config.training.digits]
    attempts = {digits: list(attempt(model, pipeline, digits, examples)) for digits in lengths}
    rows = []
    for digits, parts in attempts.items():
        rows += error_rows(summarise(*judge(parts)), digits, ("counts",))
    together = [part for parts in attempts.values() for part in parts]
    write_json(path, rows + error_rows(summarise(*judge(together))) if together else [])


def error_rows(summary: Summary, digits: int = ALL_LENGTHS, measures: Sequence[str] = MEASURES) -> list[dict[str, Any]]:
    """One number in each row; a measure `X base` has what X should be compared with."""
    counts = {"digits": digits, "examples": summary.answers, "wrong": summary.wrong_answers}
    rows = []
    for measure in measures:
        for one in getattr(summary, measure):
            rows.append(counts | {"measure": measure, "key": one.name, "value": one.share})
            if one.base is not None:
                rows.append(counts | {"measure": f"{measure} base", "key": one.name, "value": one.base})
    return rows
