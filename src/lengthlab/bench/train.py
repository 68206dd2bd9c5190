"""`lengthlab bench train`: tokens trained per second, against rivals of the same size on the same batches."""

import resource
import time
from typing import Any

import torch
from rich.table import Table

from lengthlab.bench.rivals import RIVALS, Rival
from lengthlab.bench.timing import Timing, take_turns
from lengthlab.config import Config
from lengthlab.environment import cpu_name
from lengthlab.recipes.load import load_config
from lengthlab.training.estimate import matmul_flops
from lengthlab.training.step import Engine

RECIPES = {"NoPE": ("encoding=none", "positions=sequential"), "FIRE, randomized ids": ("positions.maximum=2048",)}


def bench_train(size: str, digits: int, batch: int, repeats: int, threads: int, compiled: bool) -> dict[str, Any]:
    """Every contestant trains on the same sums of `digits` digits; one of ours for each kind of encoding.

    If `compiled`, the last of ours takes part with torch.compile too, and the steps after which that pays are told.
    """
    torch.set_num_threads(threads)
    started = time.perf_counter()
    engines = {f"lengthlab ({name})": Engine(_config(size, digits, batch, extra)) for name, extra in RECIPES.items()}
    start_up = time.perf_counter() - started
    engine = next(iter(engines.values()))
    example = engine.pipeline.samples(digits, batch)[1]
    vocabulary = len(engine.pipeline.format.vocabulary)
    rivals = {
        name: Rival(*build(engine.config.model, vocabulary, example.tokens.shape[1])) for name, build in RIVALS.items()
    }
    contestants: dict[str, Any] = {
        name: (lambda e=e: e.train_on([e.pipeline.samples(digits, batch)[1]], step=0)) for name, e in engines.items()
    }
    contestants |= {name: (lambda r=r: r.step(example.tokens, example.answer)) for name, r in rivals.items()}
    compile_seconds = None
    if compiled:
        name, eager = f"{list(engines)[-1]}, compiled", list(engines.values())[-1]
        engines[name] = Engine(_config(size, digits, batch, (*list(RECIPES.values())[-1], "training.compile=on")))
        draw = eager.pipeline.samples
        contestants[name] = lambda: engines[name].train_on([draw(digits, batch)[1]], step=0)
        started = time.perf_counter()
        contestants[name]()
        compile_seconds = time.perf_counter() - started
    timings = take_turns(contestants, repeats)
    peak = {"fp32": matmul_flops(torch.float32), "bf16": matmul_flops(torch.bfloat16)}
    counts = {name: sum(p.numel() for p in e.model.parameters()) for name, e in engines.items()}
    counts |= {name: rival.parameters for name, rival in rivals.items()}
    rows = [_row(name, timings[name], counts[name], example.tokens.numel(), max(peak.values())) for name in contestants]
    best_rival = max(row["tokens_per_second"] for row in rows if not row["name"].startswith("lengthlab"))
    return {
        "machine": cpu_name(),
        "threads": threads,
        "shape": engine.config.model.model_dump(include={"layers", "width", "feedforward", "heads"}),
        "batch": batch,
        "tokens_per_example": example.tokens.shape[1],
        "rows": [row | {"ratio": row["tokens_per_second"] / best_rival} for row in rows],
        "matmul_gflops": {name: flops / 1e9 for name, flops in peak.items()},
        "start_up_seconds": start_up,
        "compile_seconds": compile_seconds,
        "break_even_steps": _break_even(compile_seconds, timings),
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def _break_even(compile_seconds: float | None, timings: dict[str, Timing]) -> float | None:
    """After how many steps compiling has saved what it cost; None if it was not tried or saves nothing."""
    compiled = next((name for name in timings if name.endswith(", compiled")), None)
    if compiled is None or compile_seconds is None:
        return None
    saved = timings[compiled.removesuffix(", compiled")].median - timings[compiled].median
    return compile_seconds / saved if saved > 0 else None


def _config(size: str, digits: int, batch: int, extra: tuple[str, ...]) -> Config:
    overrides = [f"model={size}", f"training.batch={batch}", f"training.digits={digits}", "training.growth=0"]
    overrides += ["training.optimizer=adamw", "format.hints=102", "evaluation.digits=1"]
    return load_config("zhou2024-mini", [*overrides, "training.evaluate_digits=[]", *extra])


def _row(name: str, timing: Timing, parameters: int, tokens: int, peak: float) -> dict[str, Any]:
    """Speed, its quartiles, and the share of the matrix speed that 6 FLOPs a parameter and token come to."""
    return {
        "name": name,
        "parameters": parameters,
        "tokens_per_second": tokens / timing.median,
        "low": tokens / timing.high,
        "high": tokens / timing.low,
        "share_of_peak": 6 * parameters * tokens / timing.median / peak,
    }


def table(result: dict[str, Any]) -> Table:
    """The result for people."""
    shape = result["shape"]
    batch = f"batch {result['batch']} x {result['tokens_per_example']} tokens, {result['threads']} thread(s)"
    title = f"Training speed: {shape['layers']} layers, width {shape['width']}, {batch}"
    view = Table(title=title, title_justify="left")
    for column in ("", "parameters", "tokens/s", "quartiles", "share of peak", "to fastest rival"):
        view.add_column(column, justify="left" if not column else "right")
    for row in result["rows"]:
        view.add_row(
            row["name"],
            f"{row['parameters']:,}",
            f"{row['tokens_per_second']:,.0f}",
            f"{row['low']:,.0f} - {row['high']:,.0f}",
            f"{row['share_of_peak']:.0%}",
            f"{row['ratio']:.2f}x",
        )
    peak = ", ".join(f"{name} {gflops:.0f} GFLOPS" for name, gflops in result["matmul_gflops"].items())
    memory = result["peak_memory_bytes"] / 2**20
    view.caption = (
        f"{result['machine']}; matrix products {peak}; start-up {result['start_up_seconds']:.1f} s; {memory:,.0f} MiB"
        f"{_compile_text(result)}"
    )
    view.caption_justify = "left"
    return view


def _compile_text(result: dict[str, Any]) -> str:
    if result["compile_seconds"] is None:
        return ""
    steps = result["break_even_steps"]
    pays = f"pays after {steps:,.0f} steps of this shape" if steps else "saves nothing at this shape"
    return f"; torch.compile took {result['compile_seconds']:.0f} s and {pays}"
