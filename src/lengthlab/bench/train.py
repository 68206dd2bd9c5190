"""`lengthlab bench train`: tokens trained per second at the shapes of a recipe.

The contestants are this engine, an earlier commit of it, and rivals of the same size as their users run them; where
the processor has bf16 arithmetic, all of them in bf16 too. They take turns, each in a process of its own.
Ratios are of processor time, which a busy neighbour disturbs least; with one thread on a quiet machine it is time.
"""

import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from rich.table import Table

from lengthlab.batches import Batch, Pipeline
from lengthlab.bench.contestant import Baseline, ChildContestant, Contestant, Participant, Timing, unpack
from lengthlab.bench.rivals import RIVALS, Rival
from lengthlab.cli.console import table
from lengthlab.config.load import load_config
from lengthlab.config.schema import Config
from lengthlab.runs.environment import cpu_name
from lengthlab.training.cost import block_matrices
from lengthlab.training.estimate import matmul_flops
from lengthlab.training.hardware import has_fast_bf16
from lengthlab.training.step import Engine

OURS = "lengthlab"
MANY_HINTS = 102  # the paper's number, where the recipe has too few for the length


def bench_train(
    recipe: str,
    overrides: Sequence[str],
    lengths: Sequence[int],
    batch: int | None,
    repeats: int,
    threads: int,
    compiled: bool = False,
    baseline: str | None = None,
) -> dict[str, Any]:
    """For each length, what every contestant does on the same sums, with the recipe's optimizer for ours."""
    torch.set_num_threads(threads)
    precisions = ("fp32", "bf16") if has_fast_bf16() else ("fp32",)
    peaks = {"fp32": matmul_flops(torch.float32), "bf16": matmul_flops(torch.bfloat16)}
    with tempfile.TemporaryDirectory(prefix="lengthlab-baseline-") as folder:
        source = unpack(baseline, Path(folder)) if baseline else None
        tables = {}
        for digits in lengths:
            settings = _settings(recipe, overrides, digits, batch)
            field = _field(recipe, settings, digits, threads, precisions, compiled, source)
            tables[digits] = _race(field, load_config(recipe, settings), digits, repeats, peaks)
    return {
        "machine": cpu_name(),
        "threads": threads,
        "recipe": recipe,
        "baseline": baseline,
        "matmul_gflops": {name: flops / 1e9 for name, flops in peaks.items()},
        "lengths": tables,
    }


def _settings(recipe: str, overrides: Sequence[str], digits: int, batch: int | None) -> list[str]:
    """The recipe at one length, with nothing but training."""
    settings = [*overrides, f"training.digits={digits}", "training.growth=0", "training.evaluate_digits=[]"]
    settings += ["evaluation.digits=1", *([f"training.batch={batch}"] if batch else [])]
    hints = load_config(recipe, overrides).format.model_dump().get("hints", 0)
    return [*settings, f"format.hints={MANY_HINTS}"] if 0 < hints <= digits else settings


def _field(
    recipe: str,
    settings: list[str],
    digits: int,
    threads: int,
    precisions: Sequence[str],
    compiled: bool,
    source: Path | None,
) -> dict[str, Contestant]:
    """All who take part, by name; the name ends with the precision if it is not fp32."""
    field: dict[str, Contestant] = {}
    for precision in precisions:
        end = "" if precision == "fp32" else f", {precision}"
        ours = [*settings, f"training.precision={precision}", "training.compile=off"]
        config = load_config(recipe, ours)
        field[OURS + end] = ChildContestant(_ours, config, digits, threads)
        if compiled:
            field[f"{OURS} compiled{end}"] = ChildContestant(
                _ours, load_config(recipe, [*ours, "training.compile=on"]), digits, threads
            )
        if source is not None:
            options = {"overrides": ours, "digits": digits, "batch": config.training.batch, "threads": threads}
            pipeline = Pipeline(config)
            output = len(pipeline.format.vocabulary) * config.model.width
            flops = _flops(config, output, pipeline.samples(digits, config.training.batch)[1], lean=True)
            field[f"baseline{end}"] = Baseline(source, flops, recipe=recipe, **options)
        for name in RIVALS:
            field[name + end] = ChildContestant(_rival, name, config, digits, threads, precision)
    return field


def _race(
    field: Mapping[str, Contestant], config: Config, digits: int, repeats: int, peaks: dict[str, float]
) -> dict[str, Any]:
    """Turns, every other round in reverse; the fastest matrix product of all rounds is the peak."""
    for contestant in field.values():
        contestant()  # to warm up
    walls: dict[str, list[float]] = {name: [] for name in field}
    cpus: dict[str, list[float]] = {name: [] for name in field}
    for turn in range(repeats):
        for name in list(field)[:: 1 if turn % 2 else -1]:
            started = time.perf_counter()
            cpus[name].append(field[name]())
            walls[name].append(time.perf_counter() - started)
        peaks["fp32"] = max(peaks["fp32"], matmul_flops(torch.float32))
        if has_fast_bf16():
            peaks["bf16"] = max(peaks["bf16"], matmul_flops(torch.bfloat16))
    memory = {name: contestant.retire() for name, contestant in field.items()}
    tokens = Pipeline(config).columns(digits) * config.training.batch
    cpu = {name: statistics.median(values) for name, values in cpus.items()}
    fastest = min(cpu[name] for name in RIVALS)  # as its users run it
    rows = []
    for name, contestant in field.items():
        timing, half = Timing.of(walls[name]), name.endswith("bf16")
        earlier = cpu.get("baseline, bf16" if half else "baseline")
        rows.append(
            {
                "name": name,
                "parameters": contestant.parameters,
                "tokens_per_second": tokens / timing.median,
                "low": tokens / timing.high,
                "high": tokens / timing.low,
                "cpu_seconds": cpu[name],
                "share_of_peak": contestant.flops / cpu[name] / peaks["bf16" if half else "fp32"],
                "to_fastest_rival": fastest / cpu[name],
                "to_baseline": earlier / cpu[name] if earlier else None,
                "start_up_seconds": contestant.start_up_seconds,
                "peak_memory_bytes": memory[name],
            }
        )
    shape = config.model.model_dump(include={"layers", "width", "feedforward", "heads"})
    optimizer = config.training.optimizer.model_dump()["kind"]
    return {"batch": config.training.batch, "tokens": tokens, "shape": shape, "optimizer": optimizer, "rows": rows}


def _ours(config: Config, digits: int, threads: int) -> Participant:
    """Training steps of lengthlab."""
    torch.set_num_threads(threads)
    engine = Engine(config)
    batch = config.training.batch
    example = engine.pipeline.samples(digits, batch)[1]

    def turn() -> None:
        engine.train_on([engine.pipeline.samples(digits, batch)[1]], step=0)

    output = engine.model.output.weight.numel()
    flops = _flops(config, output, example, lean=True, looked_up=engine.model.looks_up)
    return Participant(turn, _count(engine.model), flops)


def _rival(name: str, config: Config, digits: int, threads: int, precision: str) -> Participant:
    """Training steps of a rival, on one batch of the same sums."""
    torch.set_num_threads(threads)
    pipeline = Pipeline(config)
    example = pipeline.samples(digits, config.training.batch)[1]
    vocabulary = len(pipeline.format.vocabulary)
    rival = Rival(*RIVALS[name](config.model, vocabulary, example.tokens.shape[1]), half=precision == "bf16")
    flops = _flops(config, vocabulary * config.model.width, example, lean=False)
    return Participant(lambda: rival.step(example.tokens, example.answer), _count(rival.model), flops)


def _count(model: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def _flops(config: Config, output: int, example: Batch, lean: bool, looked_up: bool = False) -> float:
    """FLOPs of the products with weights, forward and backward.

    `lean`: the last block answers only; `looked_up`: the first block's queries, keys and values are not computed.
    """
    shape, (rows, columns) = config.model, example.inputs.shape
    answers = example.targets.shape[1] if lean else columns
    attention, feedforward = block_matrices(shape)
    whole = (shape.layers * shape.loops - 1) * (attention + feedforward) * columns
    last = attention // 2 * columns + (attention // 2 + feedforward) * answers
    spared = attention // 4 * 3 * columns if looked_up else 0
    return 6.0 * rows * (whole + last + output * answers - spared)


def tables(result: dict[str, Any]) -> list[Table]:
    """The result for people, a table for each length."""
    return [_table(result, digits, one) for digits, one in result["lengths"].items()]


def _table(result: dict[str, Any], digits: int, one: dict[str, Any]) -> Table:
    shape = one["shape"]
    size = f"{shape['layers']} layers, width {shape['width']}, batch {one['batch']} x {one['tokens'] // one['batch']}"
    title = f"Training on sums of {digits} digits ({result['recipe']}: {size} tokens, {result['threads']} thread(s))"
    earlier = ("to baseline",) if result["baseline"] else ()
    view = table(title, ("",), ("tokens/s", "quartiles", "of peak", "to rival", *earlier, "MiB"))
    for row in one["rows"]:
        ratio = f"{row['to_baseline']:.2f}x" if row["to_baseline"] else ""
        view.add_row(
            row["name"],
            f"{row['tokens_per_second']:,.0f}",
            f"{row['low']:,.0f}-{row['high']:,.0f}",
            f"{row['share_of_peak']:.0%}",
            f"{row['to_fastest_rival']:.2f}x",
            *([ratio] if earlier else []),
            f"{row['peak_memory_bytes'] / 2**20:,.0f}",
        )
    peak = ", ".join(f"{name} {gflops:.1f} GFLOPS" for name, gflops in result["matmul_gflops"].items())
    counts = [row["parameters"] for row in one["rows"]]
    view.caption = (
        f"{result['machine']}; {min(counts):,} to {max(counts):,} parameters; ours with {one['optimizer']}, rivals "
        "with adamw; tokens per second of wall time; share of peak and ratios by processor time (to the fastest rival "
        f"in fp32); matrix products {peak}" + (f"; baseline {result['baseline']}" if earlier else "")
    )
    return view
