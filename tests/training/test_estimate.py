"""The estimate before a run against what the run does."""

from collections.abc import Callable

import pytest

from lengthlab.batches import Pipeline
from lengthlab.config.load import load_config
from lengthlab.config.schema import Config
from lengthlab.model.build import build_model
from lengthlab.training.estimate import estimate
from lengthlab.training.schedule import longest_digits


def test_parameters_and_tokens_are_those_of_the_run(smoke: Callable[..., Config]) -> None:
    config = smoke("training.steps=400", "training.digits=4", "training.growth=0.5", "training.batch=2")
    expected = estimate(config)
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary))
    assert expected.parameters == sum(p.numel() for p in model.parameters())
    tokens = sum(
        b.tokens.numel() for s in range(400) for b in pipeline.training_batches(s, longest_digits(s, config.training))
    )
    assert expected.tokens == pytest.approx(tokens, rel=0.03)
    assert expected.examples == 800 and expected.flops > 0 and expected.seconds > 0


def test_the_paper_s_run_has_thirteen_billion_tokens() -> None:
    expected = estimate(load_config("zhou2024"))
    assert expected.tokens == pytest.approx(50_000 * 128 * 2048, rel=1e-3)
    assert expected.parameters == pytest.approx(25.3e6, rel=0.005)


def test_batches_of_constant_tokens_are_counted_length_by_length(smoke: Callable[..., Config]) -> None:
    config = smoke("training.steps=600", "training.digits=4", "training.growth=0.5", "training.batch_tokens=200")
    pipeline = Pipeline(config)
    steps = [pipeline.training_batches(s, longest_digits(s, config.training)) for s in range(600)]
    expected = estimate(config)
    assert expected.tokens == pytest.approx(sum(b.tokens.numel() for batches in steps for b in batches), rel=0.03)
    assert expected.examples == pytest.approx(sum(len(b.tokens) for batches in steps for b in batches), rel=0.03)
