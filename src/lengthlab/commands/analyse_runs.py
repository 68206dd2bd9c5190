"""The work of `lengthlab analyse`: study each run, draw the figures, keep the result."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.status import Status

from lengthlab.analysis.attempts import require_sums
from lengthlab.analysis.averages import average
from lengthlab.analysis.lengths import choose_lengths
from lengthlab.analysis.study import study
from lengthlab.batches import Pipeline
from lengthlab.commands.analyse_figures import draw, draw_attention, question
from lengthlab.evaluation.load import load_model
from lengthlab.files import write_json
from lengthlab.runs import Run


def analyse_runs(
    runs: Sequence[Run],
    lengths: Sequence[int] | None,
    examples: int,
    sum_: str | None,
    weights: str,
    folder: Path,
    console: Console,
) -> dict[str, Any]:
    """Study each run, draw the figures and keep the result in `folder`; returns the result."""
    loaded = [load_model(run, weights) for run in runs]
    for run, (_, pipeline) in zip(runs, loaded, strict=True):
        require_sums(pipeline, run.id)
    evaluations = [run.evaluation_of(weights) for run in runs]
    why = "as asked for"
    if lengths is None:
        lengths, why = choose_lengths(evaluations, max(run.config.training.digits for run in runs))
    for _, pipeline in loaded:
        pipeline.require(max(lengths), "--digits")
    asked = question(loaded[0][1], sum_) if sum_ is not None else None

    studies = []
    with console.status("analysing") as status:
        for run, (model, pipeline), rows in zip(runs, loaded, evaluations, strict=True):
            tested = [row["digits"] for row in rows]
            studies.append(study(model, pipeline, lengths, tested, examples, _teller(status, run)))
    folder.mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = {
        "why_these_digits": why,
        "runs": [
            _describe(run, pipeline, weights) | one.as_dict()
            for run, (_, pipeline), one in zip(runs, loaded, studies, strict=True)
        ],
        "average": average([one.summary for one in studies]).as_dict() if len(runs) > 1 else None,
    }
    files = draw(result, folder)
    if len(runs) == 1:
        batch = studies[0].shown if asked is None else asked
        result["attention"], more = draw_attention(*loaded[0], batch, runs[0].id, folder)
        files += more
    result["files"] = [str(file) for file in [*files, folder / "analysis.json"]]
    write_json(folder / "analysis.json", result)
    return result


def _teller(status: Status, run: Run) -> Callable[[str], None]:
    return lambda text: status.update(f"{run.id}: {text}")


def _describe(run: Run, pipeline: Pipeline, weights: str) -> dict[str, Any]:
    config, written = run.config, pipeline.format.options
    hints = f"{written.hints} hints" if written.hints else "no hints"
    pairs = " and ".join(f"{pair.encoding.kind} encoding with {pair.positions.kind} ids" for pair in config.pairs)
    return {
        "run": run.id,
        "weights": weights,
        "model": f"{pairs}; {config.format.kind} format, {written.order} digits, {hints}",
        "encoding": config.encoding.kind,
        "seed": config.seeds.weights,
        "order": written.order,
        "trained": config.training.digits,
    }
