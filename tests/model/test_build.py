"""Choices of initial weights."""

import math
from collections.abc import Callable

import pytest
import torch

from lengthlab.config.schema import Config
from lengthlab.model.build import build_model
from lengthlab.model.transformer import Transformer

Smoke = Callable[..., Config]


def weights(model: Transformer) -> dict[str, torch.Tensor]:
    return {name: parameter.detach() for name, parameter in model.named_parameters()}


def test_keys_can_start_as_the_queries_and_nothing_else_changes(smoke: Smoke) -> None:
    usual = weights(build_model(smoke("model.layers=2"), 40))
    equal = weights(build_model(smoke("model.layers=2", "model.initial_keys=queries"), 40))
    changed = {name for name in usual if not torch.equal(usual[name], equal[name])}
    assert changed == {"blocks.0.attention.k.weight", "blocks.1.attention.k.weight"}
    for layer in (0, 1):
        assert torch.equal(equal[f"blocks.{layer}.attention.k.weight"], equal[f"blocks.{layer}.attention.q.weight"])


def test_outputs_can_start_as_the_values_transposed_and_nothing_else_changes(smoke: Smoke) -> None:
    usual = weights(build_model(smoke("model.layers=2"), 40))
    passing = weights(build_model(smoke("model.layers=2", "model.initial_outputs=values"), 40))
    changed = {name for name in usual if not torch.equal(usual[name], passing[name])}
    assert changed == {"blocks.0.attention.out.weight", "blocks.1.attention.out.weight"}
    for layer in (0, 1):
        values, outputs = (passing[f"blocks.{layer}.attention.{name}.weight"] for name in ("v", "out"))
        assert torch.equal(outputs, values.mT) and outputs.is_contiguous()


@pytest.mark.parametrize(("vocabulary", "width"), [(30, 64), (64, 64), (100, 64)])
def test_embeddings_can_start_orthogonal_at_the_usual_scale(vocabulary: int, width: int, smoke: Smoke) -> None:
    model = build_model(smoke(f"model.width={width}", "model.initial_embeddings=orthogonal"), vocabulary)
    table = model.embedding.weight.detach()
    assert table.square().mean().item() == pytest.approx(1.0, rel=1e-4)
    products = table @ table.T / width if vocabulary <= width else table.T @ table / vocabulary
    torch.testing.assert_close(products, torch.eye(len(products)), atol=1e-5, rtol=0)
    assert math.isclose(table.norm(dim=1).mean().item(), math.sqrt(width), rel_tol=0.05)
