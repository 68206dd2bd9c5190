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


@pytest.mark.parametrize(
    ("override", "matrix", "source", "flipped"),
    [("model.initial_keys=queries", "k", "q", False), ("model.initial_outputs=values", "out", "v", True)],
)
def test_a_matrix_can_start_as_another_and_nothing_else_changes(
    override: str, matrix: str, source: str, flipped: bool, smoke: Smoke
) -> None:
    usual = weights(build_model(smoke("model.layers=2"), 40))
    chosen = weights(build_model(smoke("model.layers=2", override), 40))
    changed = {name for name in usual if not torch.equal(usual[name], chosen[name])}
    assert changed == {f"blocks.{layer}.attention.{matrix}.weight" for layer in (0, 1)}
    for layer in (0, 1):
        copied, copy = (chosen[f"blocks.{layer}.attention.{name}.weight"] for name in (source, matrix))
        assert torch.equal(copy, copied.mT if flipped else copied) and copy.is_contiguous()


@pytest.mark.parametrize(("vocabulary", "width"), [(30, 64), (64, 64), (100, 64)])
def test_embeddings_can_start_orthogonal_at_the_usual_scale(vocabulary: int, width: int, smoke: Smoke) -> None:
    model = build_model(smoke(f"model.width={width}", "model.initial_embeddings=orthogonal"), vocabulary)
    table = model.embedding.weight.detach()
    assert table.square().mean().item() == pytest.approx(1.0, rel=1e-4)
    products = table @ table.T / width if vocabulary <= width else table.T @ table / vocabulary
    torch.testing.assert_close(products, torch.eye(len(products)), atol=1e-5, rtol=0)
    assert math.isclose(table.norm(dim=1).mean().item(), math.sqrt(width), rel_tol=0.05)
