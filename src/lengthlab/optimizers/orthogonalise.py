"""Orthogonalisation by Newton-Schulz steps, which is what Muon does to each update.

    x <- a x + (b g + c g g) x    with g = x x^T

moves the singular values of x near 1. torch's own Muon takes one matrix after the other, in bfloat16, which a CPU
without bf16 arithmetic multiplies at 1-3 GFLOPS instead of 70 (AMD Zen 3, torch 2.13). Here all matrices of one shape
are given together, with the precision of their products. On a CPU a kernel (`kernels/orthogonalise.cpp`) keeps each
matrix in the caches and computes g and g g, which are symmetric, by half.
"""

import ctypes
from functools import partial

import torch
from torch import Tensor

from lengthlab.model.kernels.library import NUMBERS, library
from lengthlab.model.kernels.threads import parts, side_by_side

COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def orthogonalise(matrices: Tensor, steps: int = 5, precision: torch.dtype = torch.float32) -> Tensor:
    """Move the singular values of each matrix (N, rows, columns) near 1 by `steps` quintic Newton-Schulz steps."""
    if (kernel := _kernel(matrices, precision)) is not None:
        return _in_caches(kernel, matrices.contiguous(), steps)
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    x = _in_torch((x / x.flatten(1).norm(dim=1).clamp(min=1e-7)[:, None, None]).to(precision), steps)
    return (x.mT if tall else x).to(matrices.dtype)


def _in_torch(x: Tensor, steps: int) -> Tensor:
    a, b, c = COEFFICIENTS
    for _ in range(steps):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x


def _kernel(x: Tensor, precision: torch.dtype) -> ctypes.CDLL | None:
    fits = x.dtype is torch.float32 and precision in NUMBERS and x.shape[1] % 16 == 0 and x.shape[2] % 16 == 0
    return library("orthogonalise", f"-DNUMBER={NUMBERS[precision]}") if fits and x.device.type == "cpu" else None


def _in_caches(kernel: ctypes.CDLL, given: Tensor, steps: int) -> Tensor:
    made, coefficients = torch.empty_like(given), torch.tensor(COEFFICIENTS)

    def some(first: int, end: int) -> None:
        addresses = [tensor.data_ptr() for tensor in (given[first], coefficients, made[first])]
        numbers = [end - first, *given.shape[1:], steps, *addresses]
        kernel.orthogonalise((ctypes.c_int64 * len(numbers))(*numbers))

    side_by_side([partial(some, *one) for one in parts(len(given))])
    return made
