"""bf16 with products computed in fp32 is the bf16 that torch computes, and not fp32."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from lengthlab.config.schema import Config
from lengthlab.training import hardware
from lengthlab.training.hardware import Fp32Products
from lengthlab.training.step import Engine

pytestmark = pytest.mark.numeric


@pytest.mark.parametrize("encoding", ["none", "fire", "rope"])
def test_gradients_are_those_of_bf16(
    encoding: str, smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    def gradients(precision: str, emulated: bool) -> Tensor:
        monkeypatch.setenv("LENGTHLAB_BF16", "no" if emulated else "yes")
        engine = Engine(smoke(f"training.precision={precision}", f"encoding={encoding}"))
        assert isinstance(engine.products, Fp32Products) == emulated
        with engine.products:
            engine.backward(engine.pipeline.training_batches(0, 4), 1)
        return torch.cat([weights.grad.flatten() for weights in engine.model.parameters() if weights.grad is not None])

    fp32, bf16 = gradients("fp32", False), gradients("bf16", False)
    error = (gradients("bf16", True) - bf16).norm()
    assert error < 0.1 * (fp32 - bf16).norm()


def test_attention_and_products_are_rounded_once() -> None:
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 2, 5, 8, generator=generator).bfloat16().requires_grad_() for _ in range(3))

    def computed(context: AbstractContextManager[Any]) -> list[Tensor]:
        with context:
            mixed = F.scaled_dot_product_attention(q, k, v)
            product = torch.addmm(v[0, 0, :1], q[0, 0], k[0, 0].mT @ v[0, 0])
            return [mixed, product, *torch.autograd.grad(mixed.sum() + product.sum(), (q, k, v))]

    for ours, theirs in zip(computed(Fp32Products()), computed(nullcontext()), strict=True):
        assert ours.dtype is torch.bfloat16
        torch.testing.assert_close(ours, theirs, rtol=0.02, atol=0.02)
    with Fp32Products():
        assert torch.equal(q[0, 0] @ k[0, 0].mT, (q[0, 0].float() @ k[0, 0].float().mT).bfloat16())
        single = torch.ones(2, 2)
        assert (single @ single).dtype is torch.float32


def test_it_is_chosen_where_there_is_no_bf16_arithmetic_and_is_not_compiled(
    smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LENGTHLAB_BF16", "no")
    chosen = hardware.choose(smoke("training.precision=bf16", "training.compile=on").training, 0)
    assert chosen.emulates and not chosen.compile and chosen.arithmetic is torch.float32 and len(chosen.notes) == 2
    assert not hardware.choose(smoke().training, 0).emulates
