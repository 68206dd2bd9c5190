"""`lengthlab bench`: the benchmarks on the command line."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from lengthlab.cli.console import Screen, print_json, table
from lengthlab.cli.console import size as size_text
from lengthlab.cli.parameters import MOST_THREADS, Json, Recipe, at_least, flag, lengths, place_for
from lengthlab.errors import UserError

bench = App(name="bench", help="Measure speed, with rivals taking turns in one run.", help_format="plaintext")

Digits = Annotated[int, Parameter(help="Length of the operands.")]
Repeats = Annotated[int, Parameter(help="Rounds to measure; the median is reported.")]
Threads = Annotated[int, Parameter(help="Processor threads.")]


@bench.command(name="data")
def bench_data(
    *,
    digits: Digits = 10,
    batch: Annotated[int, Parameter(help="Examples in a batch.")] = 2048,
    repeats: Repeats = 15,
    as_json: Json = False,
) -> None:
    """Measure how fast examples are made, against a plain Python loop."""
    at_least(1, 100, digits=digits)
    at_least(1, 1_000_000, batch=batch)
    at_least(2, 10_000, repeats=repeats)
    from lengthlab.bench.data import bench_data as measure

    result = measure(digits, batch, repeats)
    if as_json:
        print_json(result)
        return
    heads = ("hints", "tokens/s", "plain loop", "ratio")
    made = table(f"Sums of {digits} digits, batches of {batch}", ("format",), heads)
    for row in result["formats"]:
        speeds = [f"{row[name]:,.0f}" for name in ("tokens_per_second", "loop_tokens_per_second")]
        made.add_row(row["format"], str(row["hints"]), *speeds, f"{row['ratio']:.0f}x")
    console = Screen()
    console.print(made)
    console.say(f"making a batch takes {result['share_of_a_step']:.2%} of a training step of {result['recipe']}")


@bench.command(name="train")
def bench_train(
    *,
    recipe: Recipe = "zhou2024-mini",
    size: Annotated[str, Parameter(help="Model size instead of the recipe's, by name.", show_default=False)] = "",
    digits: Annotated[str, Parameter(help="Lengths of the operands.")] = "5,10,20,40",
    batch: Annotated[int | None, Parameter(help="Examples in a step; the recipe's if not given.")] = None,
    repeats: Repeats = 15,
    threads: Threads = 1,
    baseline: Annotated[str | None, Parameter(help="Also measure an earlier commit of this project.")] = None,
    compiled: Annotated[bool, flag("Also measure with torch.compile.", "--compile")] = False,
    out: Annotated[Path | None, Parameter(help="Also draw it; .png, .svg and .pdf are added.")] = None,
    as_json: Json = False,
) -> None:
    """Measure tokens trained per second, against rivals of the same size.

    The rivals come with the dev extra: pip install -e '.[dev]'
    """
    at_least(1, batch=batch)
    at_least(1, MOST_THREADS, threads=threads)
    at_least(2, repeats=repeats)
    trained = lengths("--digits", digits)
    if trained[-1] > 100:
        raise UserError("bench train: --digits from 1 to 100")
    if out is not None:
        place_for(out)
    from lengthlab.bench.train import bench_train as measure
    from lengthlab.bench.train import tables as train_tables

    overrides = [f"model={size}"] if size else []
    with _rivals("bench train"):
        result = measure(recipe, overrides, trained, batch, repeats, threads, compiled, baseline)
    if out is not None:
        from lengthlab.figures.speed import training_speed

        training_speed(result, out)
    if as_json:
        print_json(result)
        return
    for one in train_tables(result):
        Screen().print(one)


@bench.command(name="evaluate")
def bench_evaluate(
    *,
    recipe: Recipe = "coupling-relative-mini",
    digits: Annotated[str, Parameter(help="Lengths of the operands.")] = "20,50,100",
    batch: Annotated[int, Parameter(help="Sums answered at once.")] = 100,
    repeats: Repeats = 5,
    threads: Threads = 1,
    curve: Annotated[str, Parameter(help="Lengths at which to measure one sum; --out draws its time and memory.")] = "",
    out: Annotated[Path | None, Parameter(help="Draw the curve; .png, .svg and .pdf are added.")] = None,
    as_json: Json = False,
) -> None:
    """Measure how long greedy answers to 1,000 sums take, against rivals.

    The rivals come with the dev extra: pip install -e '.[dev]'
    """
    at_least(2, batch=batch, repeats=repeats)
    at_least(1, MOST_THREADS, threads=threads)
    if out is not None and not curve:
        raise UserError("bench evaluate: --out draws a curve; name its lengths, such as --curve 100,200,500,1000")
    if out is not None:
        place_for(out)
    tested, drawn = lengths("--digits", digits), lengths("--curve", curve) if curve else ()
    from lengthlab.bench.evaluate import bench_evaluate as measure
    from lengthlab.bench.evaluate import bench_lengths, tables

    with _rivals("bench evaluate"):
        result = measure(recipe, tested, batch, repeats, threads)
    if drawn:
        result["curve"] = bench_lengths(recipe, drawn, threads)
    if out is not None:
        from lengthlab.figures.speed import evaluation_cost

        evaluation_cost(result["curve"], out, f"One sum, {recipe}, {threads} thread(s), {result['machine']}")
    if as_json:
        print_json(result)
        return
    console = Screen()
    for one in tables(result):
        console.print(one)
    if drawn:
        made = table("One sum at a time", (), ("digits", "answer", "seconds", "memory"))
        for row in result["curve"]:
            answer = "right" if row["right"] else "wrong"
            made.add_row(str(row["digits"]), answer, f"{row['seconds']:.3f}", size_text(row["memory_bytes"]))
        console.print(made)


@contextmanager
def _rivals(command: str) -> Iterator[None]:
    """A rival that is not installed is named in one sentence."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise UserError(
            f"{command} compares with {error.name}, which is not installed: pip install -e '.[dev]'"
        ) from None
