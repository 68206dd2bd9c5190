"""Work counted in closed form is the work that counting step by step gives, and that the model has matrices for."""

from collections.abc import Callable

import pytest
import torch

from lengthlab.batches import Pipeline
from lengthlab.config.schema import Config
from lengthlab.model.build import build_model
from lengthlab.training.cost import columns_of, count_work, multiplied
from lengthlab.training.schedule import longest_digits

Smoke = Callable[..., Config]


@pytest.mark.parametrize(
    "overrides",
    [
        (),
        ("training.growth=0.7", "training.steps=37", "training.digits=9"),
        ("training.growth=1", "training.weighting=2", "training.digits=5", "training.accumulate=3"),
        ("training.pack=64", "training.growth=0.3", "training.weighting=-1"),
        ("training.max_examples=50",),
        ("training.batch_tokens=400", "training.digits=8"),
        ("training.max_tokens=900", "training.growth=0.5"),
        ("format=scratchpad", "model.loops=2", "model.layers=3"),
        ("model.loops=5", "training.least_loops=2"),
    ],
)
def test_closed_form_equals_counting_every_step(overrides: tuple[str, ...], smoke: Smoke) -> None:
    config = smoke(*overrides)
    training, shape, pipeline = config.training, config.model, Pipeline(config)
    most, least = shape.loops, training.least_loops or shape.loops
    loops = sum(range(least, most + 1)) / (most - least + 1)
    matrices = multiplied(shape, len(pipeline.format.vocabulary), loops)
    examples = tokens = flops = 0.0
    for step in range(training.steps):
        longest = longest_digits(step, training)
        packed = training.batch * training.pack / pipeline.mean_columns(longest)
        for digits, weight in enumerate(pipeline.length_weights(longest), start=1):
            count = weight * (packed if training.pack else training.accumulate * pipeline.batch_size(digits))
            columns = pipeline.columns(digits)
            attention = 12 * shape.layers * loops * shape.width * columns**2
            examples, tokens = examples + count, tokens + count * columns
            flops += count * (6 * matrices * columns + attention)
    share = min(1.0, (training.max_examples or examples) / examples, (training.max_tokens or tokens) / tokens)
    work = count_work(config)
    assert (work.examples, work.tokens, work.flops) == pytest.approx((share * examples, share * tokens, share * flops))


def test_matrices_are_those_of_the_model(smoke: Smoke) -> None:
    config = smoke("model.layers=3", "model.loops=2")
    pipeline = Pipeline(config)
    with torch.device("meta"):
        model = build_model(config, len(pipeline.format.vocabulary))
    in_blocks = sum(p.numel() for name, p in model.blocks.named_parameters() if p.ndim == 2 and "encoding" not in name)
    assert multiplied(config.model, len(pipeline.format.vocabulary), 2) == 2 * in_blocks + model.output.weight.numel()
    assert columns_of(config, 7) == pipeline.columns(7)


def test_any_number_of_steps_is_counted_at_once(smoke: Smoke) -> None:
    few, many = (count_work(smoke(f"training.steps={steps}", "training.growth=0.5")) for steps in (10**3, 10**8))
    assert many.tokens == pytest.approx(10**5 * few.tokens, rel=0.01)
