"""Newton-Schulz steps: what they do to singular values, and the kernel against torch."""

import pytest
import torch
from torch import Tensor

from lengthlab.model.kernels.library import compiler
from lengthlab.optimizers.orthogonalise import orthogonalise

# The same steps with sums in another order; each step of bf16 rounds to three digits.
CLOSE = {torch.float32: 1e-5, torch.bfloat16: 1e-2}


def matrices(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.xdist_group("kernels")  # or each worker compiles every kernel
@pytest.mark.parametrize("shape", [(20, 40), (32, 64), (64, 32)])  # of which the kernel takes the last two
def test_all_singular_values_come_near_one(shape: tuple[int, int]) -> None:
    scales = torch.tensor([1e-3, 1, 1e3])[:, None, None]
    values = torch.linalg.svdvals(orthogonalise(matrices(3, *shape) * scales))
    assert values.min() > 0.6 and values.max() < 1.3


@pytest.mark.skipif(compiler() is None, reason="no C++ compiler here")
@pytest.mark.xdist_group("kernels")
@pytest.mark.parametrize("precision", list(CLOSE))
@pytest.mark.parametrize("shape", [(16, 16), (48, 80), (128, 128), (96, 32)])
def test_the_kernel_does_what_torch_does(
    shape: tuple[int, int], precision: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = matrices(3, *shape)
    kept = given.clone()
    ours = orthogonalise(given, precision=precision)
    assert torch.equal(given, kept)
    monkeypatch.setenv("LENGTHLAB_KERNELS", "off")
    theirs = orthogonalise(given, precision=precision)
    assert not torch.equal(ours, theirs), "the kernel was not used"
    assert (ours - theirs).norm() < CLOSE[precision] * theirs.norm()
