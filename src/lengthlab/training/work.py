"""How much a training run has to compute, counted before it starts."""

from collections import Counter
from dataclasses import dataclass

from lengthlab.batches import Pipeline
from lengthlab.config import Config
from lengthlab.model.transformer import Transformer
from lengthlab.training.schedule import longest_digits


@dataclass(frozen=True)
class Work:
    """Counts over a whole run; random lengths enter with their mean."""

    examples: float
    tokens: float
    flops: float


def count_work(config: Config, model: Transformer, pipeline: Pipeline) -> Work:
    """All steps of a run, up to its limits. Work that is left out (questions in the last block) counts as done."""
    training, shape = config.training, config.model
    columns = [pipeline.columns(digits) for digits in range(1, training.digits + 1)]
    steps_at = Counter(longest_digits(step, training) for step in range(training.steps))

    def expected(values: list[int]) -> float:
        """The sum over all examples of a value that depends on their length."""
        total = 0.0
        for longest, steps in steps_at.items():
            mean = float(pipeline.length_weights(longest) @ values[:longest])
            total += steps * examples_in_a_step(config, pipeline, longest) * mean
        return total

    counts = {"examples": expected([1] * training.digits), "tokens": expected(columns)}
    limits = {"examples": training.max_examples, "tokens": training.max_tokens}
    share = min([1.0, *(limit / counts[what] for what, limit in limits.items() if limit)])  # of all the steps
    products = 6 * multiplied(model) * counts["tokens"]
    attention = 12 * shape.layers * shape.loops * shape.width * expected([c * c for c in columns])
    return Work(share * counts["examples"], share * counts["tokens"], share * (products + attention))


def examples_in_a_step(config: Config, pipeline: Pipeline, longest: int) -> float:
    """How many examples a step has whose lengths go up to `longest`."""
    training = config.training
    if training.pack:
        return training.batch * training.pack / pipeline.mean_columns(longest)
    return training.batch * training.accumulate


def multiplied(model: Transformer) -> int:
    """How many parameters each token is multiplied by."""
    blocks = sum(parameter.numel() for parameter in model.blocks.parameters())
    return blocks * model.options.loops + model.output.weight.numel()
