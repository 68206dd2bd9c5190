"""From a config to batches: which lengths, how many examples, which problems."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from lengthlab.batches import Pipeline, joined
from lengthlab.config.schema import Config


@pytest.mark.parametrize("weighting", [-1.0, 0.0, 2.0])
def test_lengths_are_weighted_by_a_power_of_the_length(weighting: float, smoke: Callable[..., Config]) -> None:
    pipeline = Pipeline(smoke(f"training.weighting={weighting}", "training.batch=1", "training.accumulate=1600"))
    lengths = np.array([batch.tokens.shape[1] for batch in pipeline.training_batches(0, 3)])
    shares = np.array([(lengths == pipeline.columns(digits)).mean() for digits in (1, 2, 3)])
    weights = np.array([1.0, 2.0, 3.0]) ** weighting
    np.testing.assert_allclose(shares, weights / weights.sum(), atol=0.04)


def test_batches_of_constant_tokens_hold_as_many_examples_as_fit(smoke: Callable[..., Config]) -> None:
    config = smoke("training.batch=8", "training.batch_tokens=400", "training.batch_most=20", "training.growth=0")
    pipeline = Pipeline(config)
    columns = {digits: pipeline.columns(digits) for digits in (1, 2, 3, 12)}
    assert columns == {1: 16, 2: 22, 3: 28, 12: 82}
    assert {digits: pipeline.batch_size(digits) for digits in columns} == {1: 20, 2: 18, 3: 14, 12: 8}
    drawn = [batch for step in range(20) for batch in pipeline.training_batches(step, 3)]
    assert {(batch.digits, len(batch.tokens)) for batch in drawn} == {(1, 20), (2, 18), (3, 14)}
    usual = Pipeline(smoke("training.batch=8", "training.growth=0"))
    assert {len(batch.tokens) for step in range(20) for batch in usual.training_batches(step, 3)} == {8}


def test_the_first_test_problems_do_not_depend_on_how_many_follow(smoke: Callable[..., Config]) -> None:
    pipeline = Pipeline(smoke())
    few = torch.cat([batch.tokens for _, batch in pipeline.test_batches(3, 70)])
    many = torch.cat([batch.tokens for _, batch in pipeline.test_batches(3, 200)])
    assert torch.equal(few, many[:70])


def test_test_problems_are_not_the_training_problems(smoke: Callable[..., Config]) -> None:
    pipeline = Pipeline(smoke("training.batch=64"))
    test = {tuple(row) for _, batch in pipeline.test_batches(30, 64) for row in batch.tokens.tolist()}
    training = {
        tuple(row)
        for step in range(40)
        for batch in pipeline.training_batches(step, 30)
        for row in batch.tokens.tolist()
    }
    assert len(test) == 64 and not test & training


def test_blocks_are_joined_only_where_they_share_their_ids(smoke: Callable[..., Config]) -> None:
    def sizes(*overrides: str) -> list[int]:
        pipeline = Pipeline(smoke(*overrides))
        return [len(batch.tokens) for batch in joined((batch for _, batch in pipeline.test_batches(3, 70)), 48)]

    assert sizes("positions=sequential") == [48, 22]
    assert sizes("positions=randomized") == [16, 16, 16, 16, 6]
