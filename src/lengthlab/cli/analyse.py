"""`lengthlab analyse`: what the wrong answers of trained runs have in common, and where their heads look."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from lengthlab.cli.console import Screen, print_json
from lengthlab.cli.parameters import MOST_EXAMPLES, Json, RunNames, Weights, at_least, lengths, place_for
from lengthlab.errors import UserError

if TYPE_CHECKING:
    from rich.status import Status

    from lengthlab.batches import Batch, Pipeline
    from lengthlab.model.transformer import Transformer
    from lengthlab.runs.run import Run

LARGEST = 400  # tokens in one heat map


def analyse(
    *runs: RunNames,
    digits: Annotated[
        str | None, Parameter(help="Lengths, such as 12-15; where the run begins to fail if not given.")
    ] = None,
    examples: Annotated[int, Parameter(help="Sums of each length.")] = 500,
    sum_: Annotated[
        str | None, Parameter(name="--sum", help='Draw the attention for this sum, such as "123+456".')
    ] = None,
    weights: Weights = "last",
    out: Annotated[
        Path | None,
        Parameter(help="Folder for figures and analysis.json; analysis in the run's folder if not given."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Explain wrong answers: kinds of mistakes, examples, attention.

    Figures are drawn too, and several runs are averaged.
    """
    if not runs:
        raise UserError("analyse: name at least one run")
    at_least(1, MOST_EXAMPLES, examples=examples)
    if sum_ is not None and len(runs) > 1:
        raise UserError("--sum: draws the attention of one run; name a single run")
    asked = lengths("--digits", digits) if digits is not None else None
    from lengthlab.runs.run import Run, runs_folder

    found = [Run.find(name) for name in runs]
    if len({run.path.resolve() for run in found}) < len(found):
        raise UserError("analyse: a run is named twice")
    own = found[0].path / "analysis" if len(found) == 1 else runs_folder() / "analysis"
    folder = place_for(out, "folder") if out else own
    result = _analyse(found, asked, examples, sum_, weights, folder)
    if as_json:
        print_json(result)
        return
    from lengthlab.analysis.page import print_page

    print_page(result, Screen())


def _analyse(
    runs: "Sequence[Run]", lengths: Sequence[int] | None, examples: int, sum_: str | None, weights: str, folder: Path
) -> dict[str, Any]:
    """Study each run, draw the figures and keep the result in `folder`; returns the result."""
    from lengthlab.analysis.errors import average
    from lengthlab.analysis.study import study
    from lengthlab.analysis.verdicts import require_sums
    from lengthlab.config.checks import require_length
    from lengthlab.evaluation.load import load_model
    from lengthlab.runs.files import write_json
    from lengthlab.statistics.lengths import choose_lengths

    loaded = [load_model(run, weights) for run in runs]
    for run, (_, pipeline) in zip(runs, loaded, strict=True):
        require_sums(pipeline, run.id)
    evaluations = [run.evaluation_of(weights) for run in runs]
    why = "as asked for"
    if lengths is None:
        lengths, why = choose_lengths(evaluations, max(run.config.training.digits for run in runs))
    for _, pipeline in loaded:
        require_length(pipeline, max(lengths), "--digits")
    asked = _question(loaded[0][1], sum_) if sum_ is not None else None

    studies = []
    with Screen(stderr=True).status("analysing") as status:
        for run, (model, pipeline), rows in zip(runs, loaded, evaluations, strict=True):
            tested = [row["digits"] for row in rows]
            studies.append(study(model, pipeline, lengths, tested, examples, _reporter(status, run)))
    folder.mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = {
        "why_these_digits": why,
        "runs": [
            _describe(run, pipeline, weights) | one.as_dict()
            for run, (_, pipeline), one in zip(runs, loaded, studies, strict=True)
        ],
        "average": average([one.summary for one in studies]).as_dict() if len(runs) > 1 else None,
    }
    files = _draw(result, folder)
    if len(runs) == 1:
        batch = studies[0].shown if asked is None else asked
        result["attention"], more = _draw_attention(*loaded[0], batch, runs[0].id, folder)
        files += more
    result["files"] = [str(file) for file in [*files, folder / "analysis.json"]]
    write_json(folder / "analysis.json", result)
    return result


def _reporter(status: "Status", run: "Run") -> Callable[[str], None]:
    return lambda text: status.update(f"{run.id}: {text}")


def _describe(run: "Run", pipeline: "Pipeline", weights: str) -> dict[str, Any]:
    config, written = run.config, pipeline.format.options
    hints = f"{written.hints} hints" if written.hints else "no hints"
    pairs = " and ".join(f"{pair.encoding.kind} encoding with {pair.positions.kind} ids" for pair in config.pairs)
    return {
        "run": run.id,
        "weights": weights,
        "model": f"{pairs}; {config.format.kind} format, {written.order} digits, {hints}",
        "encoding": " + ".join(pair.encoding.kind for pair in config.pairs),
        "seed": config.seeds.weights,
        "order": written.order,
        "trained": config.training.digits,
    }


def _question(pipeline: "Pipeline", text: str) -> "Batch":
    """A sum such as 123+456 as the model reads it."""
    from lengthlab.evaluation.ask import written_question

    batch = written_question(pipeline, text, "--sum")
    if (tokens := batch.tokens.shape[1]) > LARGEST:
        raise UserError(f"--sum: {tokens} tokens are too many to draw; choose shorter numbers")
    return batch


def _draw(result: dict[str, Any], folder: Path) -> list[Path]:
    """The mistakes (if there are any) and the alignment, of one run or of several together."""
    from lengthlab.analysis.study import mistake_rows
    from lengthlab.figures.alignment import Course, alignment_figure
    from lengthlab.figures.data import Seed, Setting
    from lengthlab.figures.errors import error_panels

    runs = result["runs"]
    summary = result["average"] or runs[0]["errors"]
    trained = max(run["trained"] for run in runs)
    name = f"Run {runs[0]['run']}" if len(runs) == 1 else f"{len(runs)} runs"
    lengths = " and ".join(map(str, runs[0]["digits"]))
    files: list[Path] = []
    if summary["first"]:
        wrong = sum(row["count"] for row in summary["wrong"])
        title = f"{name}: {wrong:,} wrong answers of {summary['answers']:,} at {lengths} digits"
        seeds = [Seed(run["seed"], errors=mistake_rows(run["errors"])) for run in runs]
        files += error_panels([Setting(name, trained, seeds)], folder / "errors", title)
    courses = [
        Course(f"{run['run']}: {run['encoding']}, seed {run['seed']}", run["alignment"], run["trained"]) for run in runs
    ]
    title = f"{name}: how much of the attention falls on the digit's own place in the operands"
    return files + alignment_figure(courses, folder / "alignment", title)


def _draw_attention(
    model: "Transformer", pipeline: "Pipeline", batch: "Batch", run: str, folder: Path
) -> tuple[dict[str, Any], list[Path]]:
    """Heat maps of every layer and head, and of the bias if there is one, for one sum; returns what is drawn."""
    from lengthlab.analysis.attention import attention_map
    from lengthlab.figures.attention import attention_figure, bias_figure

    seen = attention_map(model, batch, pipeline.task.operands, pipeline.format.vocabulary)
    wrong = [written != due for written, due in zip(seen.written, seen.due, strict=True)]
    reading = pipeline.format.read(batch.tokens[0].tolist())
    assert reading is not None, "a format must be able to read what it wrote"
    problem = f"{f' {pipeline.task.symbol} '.join(reading.operands)} = {reading.answer}"
    verdict = "answered wrong" if any(wrong) else "answered right"
    table = {"keys": seen.keys, "written": seen.written, "wrong": wrong, "own": seen.own}
    title = f"Run {run}: {problem}, {verdict}"
    files = attention_figure(table | {"values": seen.weights}, folder / "attention", title)
    if seen.bias is not None:
        files += bias_figure(table | {"values": seen.bias}, folder / "bias", title)
    return {"sum": problem, "verdict": verdict, "written": seen.written, "due": seen.due, "wrong": wrong}, files
