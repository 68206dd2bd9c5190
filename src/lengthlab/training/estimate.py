"""What a run will cost, before it starts: parameters, tokens, FLOPs, memory, time."""

import math
import time
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from lengthlab.batches import Pipeline
from lengthlab.config.schema import Config
from lengthlab.errors import UserError
from lengthlab.model.build import CPU, build_model, device_of
from lengthlab.model.halves import first_half, kernels_here
from lengthlab.model.kernels.library import NUMBERS
from lengthlab.runs.environment import memory_bytes
from lengthlab.tasks.finite import BLOCK
from lengthlab.training.cost import columns_of, count_work, longest_rows, multiplied
from lengthlab.training.hardware import choose
from lengthlab.training.step import TOKENS_AT_ONCE

MATMUL_SHARE = 0.55  # of the processor's own matrix speed, reached by whole training steps (measured 0.5-0.75)
SMALL = 2e7  # parameters that are made sooner than torch is ready for a model without any, which takes it 1.6 s


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
    training = config.training
    parameters = count_parameters(config)
    work = count_work(config)
    memory = sum(_memory(config, parameters).values())
    hardware = choose(training, work.flops)
    seconds = work.flops / (MATMUL_SHARE * peak_flops(hardware.arithmetic, hardware.device))
    return Estimate(parameters, round(work.examples), round(work.tokens), work.flops, memory, seconds)


def _memory(config: Config, parameters: int) -> dict[str, int]:
    """Bytes that a run needs, each under what makes them fewer."""
    shape, training = config.model, config.training
    widest, shortest = columns_of(config, training.digits), columns_of(config, 1)
    per_token = shape.layers * shape.loops * (14 * shape.width + 4 * shape.feedforward + 3 * shape.heads * widest)
    at_once = min(longest_rows(config) * widest, max(TOKENS_AT_ONCE, widest))  # more go through one after the other
    tokens = training.batch * training.pack or training.accumulate * training.batch_size(widest) * widest
    rows = training.batch * training.pack // shortest or training.batch_size(shortest)
    drawn = sum(scheme.drawn_per_row for scheme in Pipeline(config).positions)
    return {
        "model.width or model.layers": 16 * parameters,  # weights, gradients, two moments
        "training.digits or model.width": round(4 * at_once * per_token),  # activations of one backward pass
        "training.batch": 16 * (tokens + rows * drawn),  # all examples of a step, and what their ids are drawn from
        "training.examples": 8 * training.examples // BLOCK,  # the order of a finite training set
    }


def require_memory(config: Config) -> None:
    """Refuse a run that this machine does not have the memory for, before anything is written."""
    if device_of(config.training.device).type != "cpu":
        return
    parts, there = _memory(config, _parameters_from_config(config)), memory_bytes()
    if (needed := sum(parts.values())) > there:
        which = max(parts, key=parts.__getitem__)
        raise UserError(
            f"this needs {needed / 1e9:,.0f} GB of memory, but only {there / 1e9:.0f} GB is available; reduce {which}"
        )


def _parameters_from_config(config: Config) -> int:
    """Nearly as many as `count_parameters` says, without making a model (which on no device imports the compiler)."""
    vocabulary = len(Pipeline(config).format.vocabulary)
    tables = sum(getattr(pair.encoding, "rows", 0) for pair in config.pairs)
    return round(multiplied(config.model, vocabulary, loops=1)) + (vocabulary + tables) * config.model.width


def count_parameters(config: Config) -> int:
    """How many numbers are trained."""
    with torch.device("meta" if _parameters_from_config(config) > SMALL else "cpu"):
        model = build_model(config, len(Pipeline(config).format.vocabulary))
    return sum(parameter.numel() for parameter in model.parameters())


@cache
def peak_flops(precision: torch.dtype, device: torch.device = CPU) -> float:
    """The matrix speed of this machine, measured once."""
    return matmul_flops(precision, device)


def matmul_flops(precision: torch.dtype, device: torch.device = CPU) -> float:
    """Floating-point operations per second of a matrix product here, with the threads in use; the best of 0.3 s.

    Torch and the kernels take turns: torch's products in fp32 do not use the widest vectors of every processor.
    """
    rows, size = (2048, 512) if device.type == "cpu" else (8192, 4096)  # a GPU needs more to be busy
    a, b = (torch.randn(shape, device=device).to(precision) for shape in ((rows, size), (size, size)))
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    products = [partial(torch.mm, a, b)]
    if device.type == "cpu" and precision in NUMBERS and kernels_here():
        products.append(partial(_by_kernel, a.float(), b.float(), precision))
    for product in products:  # the first one takes longer
        product()
    started = time.perf_counter()
    best = math.inf
    while time.perf_counter() - started < 0.3:
        for product in products:
            begun = time.perf_counter()
            product()
            wait()
            best = min(best, time.perf_counter() - begun)
    return 2 * rows * size * size / best


def _by_kernel(a: Tensor, b: Tensor, precision: torch.dtype) -> Tensor:
    """A product and, as part of the kernel, a norm."""
    with torch.autocast("cpu", torch.bfloat16, enabled=precision is torch.bfloat16):
        return first_half(a[None], torch.ones(len(b)), [b])[0]
