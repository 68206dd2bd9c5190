"""The kernels of norm and GeGLU against torch's functions."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from lengthlab.model.between import geglu, geglu_kernel, has_kernels, norm_kernel, rms_norm
from lengthlab.model.kernels.library import compiler

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C++ compiler here")
KINDS = [torch.float32, torch.bfloat16]


def random(*shape: int, seed: int = 0) -> Tensor:
    return 2 * torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def compare(found: Callable[..., Tensor], wanted: Callable[..., Tensor], inputs: list[Tensor], close: float) -> None:
    """Values and gradients, in the inputs' own precision against fp32."""
    mine = [tensor.clone().requires_grad_() for tensor in inputs]
    exact = [tensor.float().requires_grad_() for tensor in inputs]
    out, true = found(*mine), wanted(*exact)
    slope = random(*true.shape, seed=9).to(out.dtype)
    pairs = zip(
        [out, *torch.autograd.grad(out, mine, slope)], [true, *torch.autograd.grad(true, exact, slope.float())],
        strict=True,
    )  # fmt: skip
    for one, other in pairs:
        assert (one.float() - other).norm() < close * other.norm()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [16, 48, 128])
def test_geglu(kind: torch.dtype, width: int) -> None:
    joined = random(3, 7, 2 * width).to(kind)
    joined[0, 0, :4] = torch.tensor([30.0, -30.0, 0.0, 1e-4])  # where the gate is open, shut, at its bend
    assert has_kernels(joined)
    compare(geglu_kernel, lambda x: geglu(*x.chunk(2, -1)), [joined], 1e-6 if kind is torch.float32 else 6e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("with_residual", [False, True])
def test_norm(kind: torch.dtype, half: bool, with_residual: bool) -> None:
    """Under autocast a norm without residual gives the matrix product that follows what it wants: bf16."""
    inputs = [random(3, 7, 48).to(kind), random(48, seed=1), *([random(3, 7, 48, seed=2)] if with_residual else [])]

    def norm(*tensors: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            out = norm_kernel(*tensors)
        assert out.dtype is (torch.bfloat16 if half and not with_residual else torch.float32)
        return out

    def plain(x: Tensor, gain: Tensor, *residual: Tensor) -> Tensor:
        return rms_norm(x, gain) + (residual[0] if residual else 0)

    compare(norm, plain, inputs, 1e-6 if kind is torch.float32 and not half else 6e-3)


def test_bf16_is_rounded_as_torch_rounds() -> None:
    """GeGLU with an open gate of 2^k times up is up itself, but for rounding."""
    up = torch.cat([random(61).exp(), torch.tensor([float("inf"), 0.0, 65280.0])])
    joined = torch.cat([torch.full((64,), 32.0), up]).bfloat16()[None]
    assert torch.equal(geglu_kernel(joined)[0], (32 * up.bfloat16()).bfloat16())
