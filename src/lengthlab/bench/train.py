"""`lengthlab bench train`: tokens trained per second, against rivals of the same size on the same batches."""

import time
from collections.abc import Callable
from typing import Any

import torch
from rich import box
from rich.table import Table

from lengthlab.batches import Pipeline
from lengthlab.bench.contestant import Contestant
from lengthlab.bench.rivals import RIVALS, Rival
from lengthlab.bench.timing import Timing, take_turns
from lengthlab.config import Config
from lengthlab.environment import cpu_name
from lengthlab.recipes.load import load_config
from lengthlab.training.estimate import matmul_flops
from lengthlab.training.step import Engine

OURS = {
    "lengthlab NoPE": ("encoding=none", "positions=sequential"),
    "lengthlab FIRE": ("encoding=fire", "positions=randomized", "positions.maximum=2048"),
}
COMPILED = "lengthlab FIRE compiled"


def bench_train(size: str, digits: int, batch: int, repeats: int, threads: int, compiled: bool) -> dict[str, Any]:
    """Every contestant trains on the same sums of `digits` digits; one of ours for each kind of encoding.

    Each has a process of its own, as its users would run it. If `compiled`, FIRE takes part with torch.compile
    too, and the steps after which that pays are told.
    """
    torch.set_num_threads(threads)
    configs = {name: _config(size, digits, batch, (*extra, "training.compile=off")) for name, extra in OURS.items()}
    if compiled:
        configs[COMPILED] = _config(size, digits, batch, (*OURS["lengthlab FIRE"], "training.compile=on"))
    peak = {"fp32": matmul_flops(torch.float32), "bf16": matmul_flops(torch.bfloat16)}
    contestants = {name: Contestant(_ours, config, threads) for name, config in configs.items()}
    config = next(iter(configs.values()))
    contestants |= {name: Contestant(_rival, name, config, threads) for name in RIVALS}
    first_turns = {name: _seconds(contestant) for name, contestant in contestants.items()}
    timings = take_turns(contestants, repeats)
    memory = {name: contestant.retire() for name, contestant in contestants.items()}
    tokens = Pipeline(config).columns(digits) * batch
    speeds = {name: tokens / timings[name].median for name in contestants}
    rows = [
        {
            "name": name,
            "parameters": contestant.parameters,
            "tokens_per_second": speeds[name],
            "low": tokens / timings[name].high,
            "high": tokens / timings[name].low,
            "share_of_peak": 6 * contestant.parameters * speeds[name] / max(peak.values()),
            "ratio": speeds[name] / max(speeds[rival] for rival in RIVALS),
            "start_up_seconds": contestant.start_up_seconds,
            "peak_memory_bytes": memory[name],
        }
        for name, contestant in contestants.items()
    ]
    compile_seconds = None
    if compiled:  # the compiler is imported at start-up, and compiles in the first turn
        importing = contestants[COMPILED].start_up_seconds - contestants["lengthlab FIRE"].start_up_seconds
        compile_seconds = importing + first_turns[COMPILED] - timings[COMPILED].median
    return {
        "machine": cpu_name(),
        "threads": threads,
        "shape": config.model.model_dump(include={"layers", "width", "feedforward", "heads"}),
        "batch": batch,
        "tokens_per_example": tokens // batch,
        "rows": rows,
        "matmul_gflops": {name: flops / 1e9 for name, flops in peak.items()},
        "compile_seconds": compile_seconds,
        "break_even_steps": _break_even(compile_seconds, timings),
    }


def _ours(config: Config, threads: int) -> tuple[Callable[[], object], int]:
    """Training steps of lengthlab, each on a new batch."""
    torch.set_num_threads(threads)
    engine = Engine(config)
    digits, batch = config.training.digits, config.training.batch
    parameters = sum(parameter.numel() for parameter in engine.model.parameters())
    return lambda: engine.train_on([engine.pipeline.samples(digits, batch)[1]], step=0), parameters


def _rival(name: str, config: Config, threads: int) -> tuple[Callable[[], object], int]:
    """Training steps of a rival, on one batch of the same sums."""
    torch.set_num_threads(threads)
    pipeline = Pipeline(config)
    example = pipeline.samples(config.training.digits, config.training.batch)[1]
    vocabulary = len(pipeline.format.vocabulary)
    rival = Rival(*RIVALS[name](config.model, vocabulary, example.tokens.shape[1]))
    return lambda: rival.step(example.tokens, example.answer), rival.parameters


def _seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _break_even(compile_seconds: float | None, timings: dict[str, Timing]) -> float | None:
    """After how many steps compiling has saved what it cost; None if it was not tried or saves nothing."""
    if compile_seconds is None:
        return None
    saved = timings["lengthlab FIRE"].median - timings[COMPILED].median
    return compile_seconds / saved if saved > 0 else None


def _config(size: str, digits: int, batch: int, extra: tuple[str, ...]) -> Config:
    overrides = [f"model={size}", f"training.batch={batch}", f"training.digits={digits}", "training.growth=0"]
    overrides += ["training.optimizer=adamw", "format.hints=102", "evaluation.digits=1"]
    return load_config("zhou2024-mini", [*overrides, "training.evaluate_digits=[]", *extra])


def table(result: dict[str, Any]) -> Table:
    """The result for people."""
    shape = result["shape"]
    batch = f"batch {result['batch']} x {result['tokens_per_example']} tokens, {result['threads']} thread(s)"
    title = f"Training speed: {shape['layers']} layers, width {shape['width']}, {batch}"
    view = Table(
        title=title,
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for column in ("", "tokens/s", "quartiles", "of peak", "ratio", "start", "MiB"):
        view.add_column(column, justify="left" if not column else "right")
    for row in result["rows"]:
        view.add_row(
            row["name"],
            f"{row['tokens_per_second']:,.0f}",
            f"{row['low']:,.0f}-{row['high']:,.0f}",
            f"{row['share_of_peak']:.0%}",
            f"{row['ratio']:.2f}x",
            f"{row['start_up_seconds']:.1f} s",
            f"{row['peak_memory_bytes'] / 2**20:,.0f}",
        )
    peak = ", ".join(f"{name} {gflops:.1f} GFLOPS" for name, gflops in result["matmul_gflops"].items())
    counts = [row["parameters"] for row in result["rows"]]
    view.caption = (
        f"{result['machine']}; {min(counts):,} to {max(counts):,} parameters; "
        "the ratio is to the fastest rival; 6 FLOPs a parameter and token count, also where work is left out; "
        f"matrix products {peak}{_compile_text(result)}"
    )
    return view


def _compile_text(result: dict[str, Any]) -> str:
    if result["compile_seconds"] is None:
        return ""
    steps = result["break_even_steps"]
    pays = f"pays after {steps:,.0f} steps of this shape" if steps else "saves nothing at this shape"
    return f"; torch.compile took {result['compile_seconds']:.0f} s and {pays}"
