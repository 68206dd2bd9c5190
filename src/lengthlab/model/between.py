"""What lies between a block's matrix products: RMS norm and GeGLU.

Written in torch each is a chain of functions, each of which goes through memory. In training on a CPU a kernel makes it
one pass (`kernels/between.cpp`); torch.compile does so anywhere, if asked to. Only these are compiled: matrix products
gain nothing from it. One version serves all lengths and is there in seconds; compiling the whole model took 136 s for
six lengths where this took 6 s, and its steps were no faster (LOG.md).
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from lengthlab.model.kernels.library import library

NAMES = {torch.float32: "fp32", torch.bfloat16: "bf16"}


def rms_norm(x: Tensor, gain: Tensor) -> Tensor:
    """Root mean square norm, in the precision of the gain whatever autocast does."""
    return F.rms_norm(x.to(gain.dtype), gain.shape, gain, eps=1e-6)


def geglu(gate: Tensor, up: Tensor) -> Tensor:
    """gelu(gate) * up (Shazeer 2020)."""
    return F.gelu(gate, approximate="tanh") * up


@cache
def fused(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The compiled function; each is compiled once in a process."""
    return torch.compile(function, dynamic=True)


def kernels_here() -> bool:
    """Whether this process has the kernels: on one thread, which is how small models train best on a CPU."""
    return torch.get_num_threads() == 1 and library("between") is not None


def has_kernels(x: Tensor) -> bool:
    """Whether a kernel can compute this."""
    return x.device.type == "cpu" and x.dtype in NAMES and x.shape[-1] % 16 == 0 and kernels_here()


def norm_kernel(x: Tensor, gain: Tensor, residual: Tensor | None = None) -> Tensor:
    """`rms_norm` plus the residual; without one it goes to a matrix product, in whose precision it is returned."""
    half = residual is None and torch.is_autocast_enabled("cpu")
    kind = torch.get_autocast_dtype("cpu") if half else gain.dtype
    return _Norm.apply(x, gain, residual, kind)


def geglu_kernel(joined: Tensor) -> Tensor:
    """`geglu` of gate and up side by side."""
    return _Geglu.apply(joined)


class _Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, gain: Tensor, residual: Tensor | None, kind: torch.dtype) -> Tensor:
        x = x.contiguous()
        residual = None if residual is None else residual.contiguous()
        out, inverse = torch.empty_like(x, dtype=kind), x.new_empty(x.shape[:-1], dtype=torch.float32)
        ctx.name = f"{NAMES[x.dtype]}_{NAMES[kind]}"
        _call(f"norm_{ctx.name}", x, gain, residual, out, inverse, inverse.numel(), x.shape[-1])
        ctx.save_for_backward(x, gain, inverse)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (d_out,) = gradients
        x, gain, inverse = ctx.saved_tensors
        d_out = d_out.contiguous()
        d_x, d_gain = torch.empty_like(x), torch.zeros_like(gain)
        _call(f"norm_back_{ctx.name}", x, gain, inverse, d_out, d_x, d_gain, inverse.numel(), x.shape[-1])
        return d_x, d_gain, d_out if ctx.needs_input_grad[2] else None, None


class _Geglu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, joined: Tensor) -> Tensor:
        joined = joined.contiguous()
        ctx.save_for_backward(joined)
        gate, up = joined.chunk(2, dim=-1)
        out = torch.empty_like(gate, memory_format=torch.contiguous_format)
        width = gate.shape[-1]
        _call(f"geglu_{NAMES[joined.dtype]}", gate, up, 2 * width, out, out.numel() // width, width)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (d_out,) = gradients
        (joined,) = ctx.saved_tensors
        d_joined = torch.empty_like(joined)
        parts = [part for tensor in (joined, d_joined) for part in tensor.chunk(2, dim=-1)]
        gate, up, d_gate, d_up = parts
        width, d_out = gate.shape[-1], d_out.contiguous()
        rows = d_out.numel() // width
        _call(f"geglu_back_{NAMES[joined.dtype]}", gate, up, 2 * width, d_out, d_gate, d_up, rows, width)
        return d_joined


def _call(name: str, *arguments: Tensor | int | None) -> None:
    """Call a kernel with the addresses of tensors and with whole numbers."""
    kernels = library("between")
    assert kernels is not None, "asked for by has_kernels"
    getattr(kernels, name)(
        *(
            ctypes.c_void_p(argument.data_ptr()) if isinstance(argument, Tensor)
            else ctypes.c_long(argument) if argument is not None else None
            for argument in arguments
        )
    )  # fmt: skip
