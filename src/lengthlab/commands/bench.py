"""`lengthlab bench`: the benchmarks on the command line."""

import json
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from rich.console import Console

from lengthlab.commands.parameters import Json
from lengthlab.errors import UserError
from lengthlab.lengths import parse_lengths

bench = App(name="bench", help="Measure speed, with rivals taking turns in one run.")


@bench.command(name="data")
def bench_data(
    *,
    digits: Annotated[int, Parameter(help="Length of the operands.")] = 10,
    batch: Annotated[int, Parameter(help="Examples in a batch.")] = 2048,
    repeats: Annotated[int, Parameter(help="Turns; the median counts.")] = 15,
    as_json: Json = False,
) -> None:
    """How fast examples are made, against a plain Python loop, and as a share of a training step."""
    if digits < 1 or digits > 100 or batch < 1 or repeats < 2:
        raise UserError("bench data: --digits from 1 to 100, --batch at least 1, --repeats at least 2")
    from lengthlab.bench.data import bench_data as measure

    result = measure(digits, batch, repeats)
    if as_json:
        print(json.dumps(result, indent=2))
        return
    print(f"sums of {digits} digits, batches of {batch}")
    print("format        hints   tokens/s   plain loop     ratio")
    for row in result["formats"]:
        print(
            f"{row['format']:<12} {row['hints']:>6} {row['tokens_per_second']:>10,.0f} "
            f"{row['loop_tokens_per_second']:>12,.0f} {row['ratio']:>8.0f}x"
        )
    print(f"making a batch takes {result['share_of_a_step']:.2%} of a training step of {result['recipe']}")


@bench.command(name="train")
def bench_train(
    *,
    size: Annotated[str, Parameter(help="Shape of the models, by name.")] = "mini",
    digits: Annotated[int, Parameter(help="Length of the operands.")] = 10,
    batch: Annotated[int, Parameter(help="Examples in a step.")] = 128,
    repeats: Annotated[int, Parameter(help="Turns; the median counts.")] = 15,
    threads: Annotated[int, Parameter(help="Processor threads.")] = 1,
    compiled: Annotated[
        bool,
        Parameter(name="--compile", negative="", show_default=False, help="With torch.compile too."),
    ] = False,
    out: Annotated[Path | None, Parameter(help="Draw it too; .png, .svg and .pdf are added.")] = None,
    as_json: Json = False,
) -> None:
    """Tokens trained per second, against rivals of the same size. Needs the dev extra: pip install -e '.[dev]'."""
    if digits < 1 or digits > 100 or batch < 1 or repeats < 2 or threads < 1:
        raise UserError("bench train: --digits from 1 to 100, --batch and --threads at least 1, --repeats at least 2")
    from lengthlab.bench.train import bench_train as measure
    from lengthlab.bench.train import table

    try:
        result = measure(size, digits, batch, repeats, threads, compiled)
    except ModuleNotFoundError as error:
        raise UserError(
            f"bench train compares with {error.name}, which is not installed: pip install -e '.[dev]'"
        ) from None
    if out is not None:
        from lengthlab.figures.speed import training_speed

        training_speed(result, out)
    if as_json:
        print(json.dumps(result, indent=2))
    else:
        Console().print(table(result))


@bench.command(name="evaluate")
def bench_evaluate(
    *,
    recipe: Annotated[str, Parameter(help="Whose shape and format the models have.")] = "coupling-relative-mini",
    digits: Annotated[str, Parameter(help="Lengths of the operands.")] = "20,50,100",
    batch: Annotated[int, Parameter(help="Sums answered at once.")] = 100,
    repeats: Annotated[int, Parameter(help="Turns; the median counts.")] = 5,
    threads: Annotated[int, Parameter(help="Processor threads.")] = 1,
    curve: Annotated[str, Parameter(help="Lengths for time and memory of one sum; drawn with --out.")] = "",
    out: Annotated[Path | None, Parameter(help="Draw the curve; .png, .svg and .pdf are added.")] = None,
    as_json: Json = False,
) -> None:
    """Seconds for greedy answers to 1,000 sums, against others' generate. Needs the dev extra, as bench train does."""
    if batch < 2 or repeats < 2 or threads < 1:
        raise UserError("bench evaluate: --batch and --repeats at least 2, --threads at least 1")
    if out is not None and not curve:
        raise UserError("bench evaluate: --out draws a curve; name its lengths, such as --curve 100,200,500,1000")
    try:
        lengths, curve_lengths = parse_lengths(digits), parse_lengths(curve) if curve else ()
    except ValueError as error:
        raise UserError(f"--digits and --curve: {error}") from None
    from lengthlab.bench.evaluate import bench_evaluate as measure
    from lengthlab.bench.evaluate import bench_lengths, tables

    try:
        result = measure(recipe, lengths, batch, repeats, threads)
    except ModuleNotFoundError as error:
        raise UserError(
            f"bench evaluate compares with {error.name}, which is not installed: pip install -e '.[dev]'"
        ) from None
    if curve_lengths:
        result["curve"] = bench_lengths(recipe, curve_lengths, threads)
    if out is not None:
        from lengthlab.figures.speed import evaluation_cost

        evaluation_cost(result["curve"], out, f"One sum, {recipe}, {threads} thread(s), {result['machine']}")
    if as_json:
        print(json.dumps(result, indent=2))
        return
    for table in tables(result):
        Console().print(table)
    for row in result.get("curve", []):
        kind, memory = "right" if row["right"] else "wrong", row["memory_bytes"] / 2**20
        print(f"{row['digits']:>5} digits, {kind}: {row['seconds']:8.3f} s a sum, {memory:7,.0f} MiB")
