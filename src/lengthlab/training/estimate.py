"""What a run will cost, before it starts: parameters, tokens, FLOPs, memory, time."""

import math
import time
from dataclasses import asdict, dataclass
from typing import Any

import torch

from lengthlab.batches import Pipeline
from lengthlab.config import Config
from lengthlab.model.build import build_model
from lengthlab.model.device import CPU
from lengthlab.model.transformer import Transformer
from lengthlab.training.hardware import Hardware, choose
from lengthlab.training.work import count_work, examples_in_a_step, multiplied

MATMUL_SHARE = 0.55  # of the processor's own matrix speed, reached by whole training steps (measured 0.5-0.75)


@dataclass(frozen=True)
class Estimate:
    """Expected cost of training; the evaluation after it is not counted."""

    parameters: int
    examples: int
    tokens: int
    flops: float
    memory_bytes: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def estimate(config: Config) -> Estimate:
    """Counts are exact up to the random lengths, whose mean is taken; memory and time are rough."""
    pipeline = Pipeline(config)
    training, shape = config.training, config.model
    with torch.device("meta"):
        model = build_model(config, len(pipeline.format.vocabulary))
    parameters = sum(parameter.numel() for parameter in model.parameters())
    work = count_work(config, model, pipeline)
    widest = pipeline.columns(training.digits)
    per_token = shape.layers * shape.loops * (14 * shape.width + 4 * shape.feedforward + 3 * shape.heads * widest)
    batches = training.digits if training.pack else training.accumulate  # in a step
    rows = examples_in_a_step(config, pipeline, training.digits) / batches
    memory = round(16 * parameters + 4 * rows * widest * per_token)
    hardware = choose(training, work.flops)
    seconds = work.flops / (MATMUL_SHARE * matmul_flops(hardware.arithmetic, hardware.device))
    return Estimate(parameters, round(work.examples), round(work.tokens), work.flops, memory, seconds)


def share_of_peak(model: Transformer, hardware: Hardware) -> float:
    """The share of this machine's own matrix speed that one token a second of training comes to.

    Counted as is usual, 6 FLOPs for each parameter of a matrix, whether or not some of the work is left out.
    """
    return 6 * multiplied(model) / matmul_flops(hardware.arithmetic, hardware.device)


def matmul_flops(precision: torch.dtype, device: torch.device = CPU) -> float:
    """Floating-point operations per second of a matrix product here, with the threads in use; the best of 0.3 s."""
    rows, size = (2048, 512) if device.type == "cpu" else (8192, 4096)  # a GPU needs more to be busy
    a, b = (torch.randn(shape, device=device).to(precision) for shape in ((rows, size), (size, size)))
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    torch.mm(a[:16], b)  # the first product takes longer
    started = time.perf_counter()
    best = math.inf
    while (begun := time.perf_counter()) - started < 0.3:
        torch.mm(a, b)
        wait()
        best = min(best, time.perf_counter() - begun)
    return 2 * rows * size * size / best
