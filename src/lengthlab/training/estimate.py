"""What a run will cost, before it starts: parameters, tokens, FLOPs, memory, time."""

import time
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from lengthlab.batches import Pipeline
from lengthlab.config import Config
from lengthlab.model.build import build_model
from lengthlab.model.device import CPU
from lengthlab.model.transformer import Transformer
from lengthlab.training.hardware import Hardware, choose
from lengthlab.training.schedule import longest_digits

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
    columns = [pipeline.columns(digits) for digits in range(1, training.digits + 1)]
    squares = [c * c for c in columns]
    steps_at: dict[int, int] = {}
    for step in range(training.steps):
        longest = longest_digits(step, training)
        steps_at[longest] = steps_at.get(longest, 0) + 1

    def examples(longest: int) -> float:
        """Examples in a step whose lengths go up to `longest`."""
        if training.pack:
            return training.batch * training.pack / pipeline.mean_columns(longest)
        return training.batch * training.accumulate

    def expected(values: list[int]) -> float:
        """The sum over all examples of a value that depends on their length."""
        return sum(
            steps * examples(longest) * float(pipeline.length_weights(longest) @ values[:longest])
            for longest, steps in steps_at.items()
        )

    counts = {"examples": expected([1] * training.digits), "tokens": expected(columns)}
    limits = {"examples": training.max_examples, "tokens": training.max_tokens}
    share = min([1.0, *(limit / counts[what] for what, limit in limits.items() if limit)])  # of all the steps
    products = 6 * _multiplied(model) * counts["tokens"]
    attention = 12 * shape.layers * shape.loops * shape.width * expected(squares)
    flops = share * (products + attention)
    widest = columns[-1]
    per_token = shape.layers * shape.loops * (14 * shape.width + 4 * shape.feedforward + 3 * shape.heads * widest)
    rows = examples(training.digits) / (
        training.digits if training.pack else training.accumulate
    )  # of the widest batch
    memory = round(16 * parameters + 4 * rows * widest * per_token)
    hardware = choose(training)
    seconds = flops / (MATMUL_SHARE * matmul_flops(hardware.arithmetic, hardware.device))
    examples_seen, tokens_seen = round(share * counts["examples"]), round(share * counts["tokens"])
    return Estimate(parameters, examples_seen, tokens_seen, flops, memory, seconds)


def share_of_peak(model: Transformer, hardware: Hardware) -> float:
    """The share of this machine's own matrix speed that one token a second of training comes to.

    Counted as is usual, 6 FLOPs for each parameter of a matrix, whether or not some of the work is left out.
    """
    return 6 * _multiplied(model) / matmul_flops(hardware.arithmetic, hardware.device)


def _multiplied(model: Transformer) -> int:
    """How many parameters each token is multiplied by."""
    blocks = sum(parameter.numel() for parameter in model.blocks.parameters())
    return blocks * model.options.loops + model.output.weight.numel()


def matmul_flops(precision: torch.dtype, device: torch.device = CPU) -> float:
    """Floating-point operations per second of a matrix product here, with the threads in use; the best of three."""
    rows, size = (2048, 512) if device.type == "cpu" else (8192, 4096)  # a GPU needs more to be busy
    a, b = (torch.randn(shape, device=device).to(precision) for shape in ((rows, size), (size, size)))
    torch.mm(a[:16], b)  # the first product takes longer
    return max(_products_per_second(a, b) for _ in range(3)) * 2 * rows * size * size


def _products_per_second(a: Tensor, b: Tensor) -> float:
    wait = torch.cuda.synchronize if a.is_cuda else lambda: None
    wait()
    started = time.perf_counter()
    count = 0
    while time.perf_counter() - started < 0.1:
        torch.mm(a, b)
        wait()
        count += 1
    return count / (time.perf_counter() - started)
