"""What a run will cost, before it starts: parameters, tokens, FLOPs, memory, time."""

import time
from dataclasses import asdict, dataclass
from typing import Any

import torch

from lengthlab.batches import Pipeline
from lengthlab.config import Config
from lengthlab.model.build import build_model
from lengthlab.training.hardware import choose
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
    blocks = sum(parameter.numel() for parameter in model.blocks.parameters())
    matrices = blocks * shape.loops + model.output.weight.numel()  # what each token is multiplied by

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
    products = 6 * matrices * counts["tokens"]
    attention = 12 * shape.layers * shape.loops * shape.width * expected(squares)
    flops = share * (products + attention)
    widest = columns[-1]
    per_token = shape.layers * shape.loops * (14 * shape.width + 4 * shape.feedforward + 3 * shape.heads * widest)
    rows = examples(training.digits) / (
        training.digits if training.pack else training.accumulate
    )  # of the widest batch
    memory = round(16 * parameters + 4 * rows * widest * per_token)
    seconds = flops / (MATMUL_SHARE * matmul_flops(choose(training).arithmetic))
    examples_seen, tokens_seen = round(share * counts["examples"]), round(share * counts["tokens"])
    return Estimate(parameters, examples_seen, tokens_seen, flops, memory, seconds)


def share_of_peak(config: Config) -> float:
    """The share of this machine's own matrix speed that one token a second of training comes to.

    Counted as is usual, 6 FLOPs for each parameter of a matrix, whether or not some of the work is left out.
    """
    with torch.device("meta"):
        model = build_model(config, len(Pipeline(config).format.vocabulary))
    blocks = sum(parameter.numel() for parameter in model.blocks.parameters())
    matrices = blocks * config.model.loops + model.output.weight.numel()
    return 6 * matrices / matmul_flops(choose(config.training).arithmetic)


def matmul_flops(precision: torch.dtype, size: int = 512) -> float:
    """Floating-point operations per second of a matrix product here, with the threads in use; the best of three."""
    return max(_matmul_flops(precision, size) for _ in range(3))


def _matmul_flops(precision: torch.dtype, size: int) -> float:
    a, b = torch.randn(2048, size).to(precision), torch.randn(size, size).to(precision)
    torch.mm(a[:16], b)  # the first product takes longer
    started = time.perf_counter()
    count = 0
    while time.perf_counter() - started < 0.1:
        torch.mm(a, b)
        count += 1
    return count * 2 * 2048 * size * size / (time.perf_counter() - started)
