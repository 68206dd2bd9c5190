"""The figures of `lengthlab analyse`."""

from pathlib import Path
from typing import Any

from lengthlab.analysis.attention import picture
from lengthlab.batches import Batch, Pipeline
from lengthlab.commands.add import parse_numbers
from lengthlab.errors import UserError
from lengthlab.figures.alignment import Course, alignment_figure
from lengthlab.figures.attention import attention_figure, bias_figure
from lengthlab.figures.errors_of_runs import errors_figure
from lengthlab.model.transformer import Transformer

LARGEST = 400  # tokens in one heat map


def question(pipeline: Pipeline, text: str) -> Batch:
    """A sum such as 123+456 as the model reads it."""
    numbers = tuple(part.strip() for part in text.split("+"))
    if len(numbers) != pipeline.task.operands:
        raise UserError(f'--sum: {text!r} is not a sum of {pipeline.task.operands} numbers, such as "123+456"')
    operands = parse_numbers(numbers)
    digits = max(operand.shape[1] for operand in operands)
    pipeline.require(digits, "--sum")
    if pipeline.columns(digits) > LARGEST:
        raise UserError(f"--sum: {pipeline.columns(digits)} tokens are too many to draw; choose shorter numbers")
    return pipeline.question(operands)


def draw(result: dict[str, Any], folder: Path) -> list[Path]:
    """The mistakes (if there are any) and the alignment, of one run or of several together."""
    runs = result["runs"]
    summary = result["average"] or runs[0]["errors"]
    trained = max(run["trained"] for run in runs)
    name = f"Run {runs[0]['run']}" if len(runs) == 1 else f"{len(runs)} runs"
    lengths = " and ".join(map(str, runs[0]["digits"]))
    files: list[Path] = []
    if summary["first"]:
        wrong = sum(row["count"] for row in summary["wrong"])
        title = f"{name}: {wrong:,} wrong answers of {summary['answers']:,} at {lengths} digits"
        files += errors_figure(summary, trained, folder / "errors", title)
    courses = [
        Course(f"{run['run']}: {run['encoding']}, seed {run['seed']}", run["alignment"], run["trained"]) for run in runs
    ]
    title = f"{name}: how much of the attention falls on the digit's own place in the operands"
    return files + alignment_figure(courses, folder / "alignment", title)


def draw_attention(
    model: Transformer, pipeline: Pipeline, batch: Batch, run: str, folder: Path
) -> tuple[dict[str, Any], list[Path]]:
    """Heat maps of every layer and head, and of the bias if there is one, for one sum; returns what is drawn."""
    seen = picture(model, batch, pipeline.task.operands, pipeline.format.vocabulary)
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
