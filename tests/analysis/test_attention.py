"""Recorded attention is the attention that was used; the alignment score is known where attention is known."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from lengthlab.analysis.attention import OFFSETS, alignment, attention_map, attention_weights, own_places
from lengthlab.batches import Batch, Pipeline
from lengthlab.config.schema import Config
from lengthlab.encodings import ENCODINGS
from lengthlab.formats.vocabulary import END
from lengthlab.model.attention import Attention
from lengthlab.model.build import build_model
from lengthlab.model.transformer import Transformer

Smoke = Callable[..., Config]


def built(config: Config) -> tuple[Transformer, Pipeline]:
    pipeline = Pipeline(config)
    return build_model(config, len(pipeline.format.vocabulary)).eval(), pipeline


def first_batch(pipeline: Pipeline, digits: int = 3) -> Batch:
    return next(batch for _, batch in pipeline.test_batches(digits, 4))


@pytest.mark.parametrize("encoding", ENCODINGS.names())
@torch.no_grad()
def test_recorded_weights_are_those_that_mix_the_values(encoding: str, smoke: Smoke) -> None:
    """weights @ v, as hooks see v, is what the last matrix of every layer is given."""
    model, pipeline = built(smoke(f"encoding={encoding}", "model.layers=2"))
    batch = first_batch(pipeline)
    values: list[torch.Tensor] = []
    mixed: list[torch.Tensor] = []
    layers = [module for module in model.modules() if isinstance(module, Attention)]
    for layer in layers:

        def heard_values(_: torch.nn.Module, __: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
            values.append(output)

        def heard_mixed(_: torch.nn.Module, given: tuple[torch.Tensor, ...]) -> None:
            mixed.append(given[0])

        layer.v.register_forward_hook(heard_values)
        layer.out.register_forward_pre_hook(heard_mixed)
    logits, weights, _ = attention_weights(model, batch, batch.inputs)
    assert weights.shape == (2, 4, model.options.heads, *logits.shape[1:2], batch.inputs.shape[1])
    for used, v, attended in zip(weights, values, mixed, strict=True):
        heads = v.unflatten(-1, (model.options.heads, -1)).transpose(1, 2)
        expected = (used @ heads).transpose(1, 2).flatten(2)
        torch.testing.assert_close(attended[:, -expected.shape[1] :], expected)
    torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
    ahead = torch.ones(weights.shape[-2:], dtype=torch.bool).triu(batch.answer)
    assert (weights[..., ahead] == 0).all()
    without = model(batch.inputs, batch.positions, first=batch.answer - 1, prompt=batch.answer)
    torch.testing.assert_close(logits, without)  # by the fused kernel


@pytest.mark.parametrize(
    "overrides", [("model.attention=stick-breaking",), ("model.loops=2", "model.layers=1")], ids=str
)
@torch.no_grad()
def test_every_pass_of_every_layer_is_recorded(overrides: list[str], smoke: Smoke) -> None:
    model, pipeline = built(smoke(*overrides))
    batch = first_batch(pipeline)
    _, weights, _ = attention_weights(model, batch, batch.inputs)
    assert len(weights) == model.options.layers * model.options.loops
    total = weights.sum(-1)
    assert (total <= 1 + 1e-5).all() and (total > 0).all()  # stick-breaking may leave a rest


def test_the_bias_that_is_drawn_is_the_one_that_is_added(smoke: Smoke) -> None:
    """ALiBi's penalty is a known number: slope times distance, blank where a token may not look."""
    config = smoke("encoding=alibi", "positions=sequential", "model.layers=2", "format.hints=0")
    model, pipeline = built(config)
    seen = attention_map(model, first_batch(pipeline, 2).rows(0, 1), 2, pipeline.format.vocabulary)
    assert seen.bias is not None and seen.bias.shape == (1, model.options.heads, len(seen.written), len(seen.keys))
    answer = len(seen.keys) - len(seen.written) + 1
    rows = np.arange(answer - 1, len(seen.keys))[:, None]
    distance = rows - np.arange(len(seen.keys))
    assert np.isnan(seen.bias[0, :, distance < 0]).all()
    slope = -seen.bias[0, :, 0, answer - 2]  # at distance 1
    assert (slope > 0).all()
    for head in range(model.options.heads):
        np.testing.assert_allclose(seen.bias[0, head][distance >= 0], -slope[head] * distance[distance >= 0], rtol=1e-5)


def test_a_picture_without_bias_and_up_to_the_end_of_what_was_written(smoke: Smoke) -> None:
    model, pipeline = built(smoke("encoding=none", "format.hints=0"))
    with torch.no_grad():
        model.output.weight.zero_()
        model.output.weight[END] = 1  # ends or writes nothing but 0, whichever the sign
    seen = attention_map(model, first_batch(pipeline, 2).rows(0, 1), 2, pipeline.format.vocabulary)
    assert seen.bias is None
    assert len(seen.due) == len(seen.written) == seen.weights.shape[2] == len(seen.own)
    assert seen.written == ["$"] or seen.written.count("$") <= 1
    np.testing.assert_allclose(seen.weights.sum(-1), 1, rtol=1e-5)


def test_own_places_by_hand(smoke: Smoke) -> None:
    """Columns of ^240+930=180$: the answer's digits stand at 9, 10, 11, their operands at 1 and 5, 2 and 6, 3 and 7."""
    pipeline = Pipeline(smoke("format.hints=0"))
    operands = (np.array([[2, 4]], dtype=np.uint8), np.array([[9, 3]], dtype=np.uint8))
    batch = pipeline.question(operands)
    assert pipeline.format.vocabulary.text(batch.tokens[0].tolist()) == "^240+930=180$"
    own = own_places(batch.layout, 2, 1)[0]
    assert [np.flatnonzero(row).tolist() for row in own] == [[1, 5], [2, 6], [3, 7], []]


def test_even_attention_scores_as_even(smoke: Smoke) -> None:
    model, pipeline = built(smoke("encoding=none", "model.layers=2"))
    with torch.no_grad():
        for layer in model.modules():
            if isinstance(layer, Attention):
                layer.q.weight.zero_()
    rows, _ = alignment(model, pipeline, [1, 4], 20)
    for row in rows:
        assert row.score == pytest.approx(row.uniform) == pytest.approx(row.best)
        assert sum(row.profile) + row.farther + row.elsewhere == pytest.approx(1)
    # 2 operands, hint and digit each: 4 columns. One digit: 1 + 4 + 1 + 4 + 1 tokens and the first hint are in sight
    # of the first digit, two more of the second.
    assert rows[0].uniform == pytest.approx((4 / 12 + 4 / 14) / 2)


@pytest.mark.parametrize("shift", [-1, 0, 1])
def test_a_head_that_is_built_to_look_at_a_place_is_seen_to_do_so(shift: int, smoke: Smoke) -> None:
    """Coupled ids: a digit is predicted one place below it, so a bias at difference -1 finds its own place."""
    config = smoke("positions=coupled", "encoding=clipped", "format.hints=0", "format.order=reversed")
    model, pipeline = built(config)
    with torch.no_grad():
        for block in model.blocks:
            attention = block.attention
            assert isinstance(attention, Attention)
            attention.q.weight.zero_()
            table = attention.encodings[0].table
            assert isinstance(table, torch.Tensor)
            table.zero_()
            table[:, 3 - 1 - shift] = 2.0  # the bucket of id difference -1 - shift, scaled to a logit of 64
    rows, heads = alignment(model, pipeline, [2, 5], 16)
    assert len(heads) == 2
    for row in rows:
        if shift == 0:
            assert row.score == pytest.approx(1) and row.farther + row.elsewhere == pytest.approx(0, abs=1e-6)
        else:
            assert row.profile[OFFSETS.index(shift)] > row.score
    far = rows[1]
    if shift == 1:  # all digits but the highest have a higher neighbour
        assert far.profile[OFFSETS.index(1)] == pytest.approx(5 / 6, abs=0.01)


def test_right_and_wrong_digits_are_told_apart(smoke: Smoke) -> None:
    """A model that always says 0: the right digits are the zeros of the answers."""
    model, pipeline = built(smoke("format.hints=0"))
    with torch.no_grad():
        model.output.weight.zero_()  # all logits equal: the lowest token wins
    (row,), _ = alignment(model, pipeline, [3], 16)
    assert row.exact_match == 0 and row.score_of_right is not None and row.score_of_wrong is not None
    zeros = sum((problems.answer == 0).sum() for problems, _ in pipeline.test_batches(3, 16))
    assert row.wrong_digits == 64 - zeros
    weighted = (zeros * row.score_of_right + (64 - zeros) * row.score_of_wrong) / 64
    assert weighted == pytest.approx(row.score)
