"""The two halves of a block around its attention, each as one function, for training on a CPU.

Written in torch they are a dozen functions, each of which goes through memory. The kernels (`kernels/halves.cpp`) take
48 tokens at a time through all of it; the backward passes compute the outputs of norms and GeGLU again, so that only
their inputs are kept.
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from lengthlab.model.kernels.library import NUMBERS, TILE, library


def first_half(x: Tensor, gain: Tensor, weights: Sequence[Tensor]) -> Sequence[Tensor]:
    """norm(x) times each weight (W, W): (B, T, W) each. x (B, T, W) is fp32; under autocast the products are bf16."""
    kind = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else x.dtype
    return _FirstHalf.apply(kind, x, gain, *weights)


def second_half(
    attended: Tensor, x: Tensor, gains: Sequence[Tensor], out: Tensor, gate: Tensor, up: Tensor, down: Tensor
) -> Tensor:
    """x1 = x + norm(attended out); x1 + norm(geglu(norm(x1) gate, norm(x1) up) down).

    x (B, T, W) is fp32, and so is what is returned; products are computed in the precision of `attended` (B, T, W).
    """
    return _SecondHalf.apply(attended, x, *gains, out, gate, up, down)


def kernels_here() -> bool:
    """Whether this process has the kernels: on one thread, which is how small models train best on a CPU."""
    return torch.get_num_threads() == 1 and _kernels(torch.float32) is not None


def can_be_one(x: Tensor, hidden: int) -> bool:
    """Whether the kernels can compute the halves of a block of this width, with a feed-forward layer of that width."""
    fits = x.dtype is torch.float32 and x.shape[-1] % 16 == 0 and hidden % 16 == 0
    return fits and x.device.type == "cpu" and kernels_here()


class _FirstHalf(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, kind: torch.dtype, x: Tensor, gain: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
        x, joined = x.contiguous(), torch.cat(weights).to(kind)
        made = [torch.empty_like(x, dtype=kind) for _ in weights]
        kept = [x, gain, joined, x.new_empty(x.shape[:-1])]
        _call("first_forward", kind, [x.shape[:-1].numel(), x.shape[-1], len(weights)], [*kept, *made])
        ctx.save_for_backward(*kept)
        return tuple(made)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, gain, joined, _ = kept = ctx.saved_tensors
        d_made = [gradient.contiguous() for gradient in gradients]
        d_x, d_gain, room = torch.empty_like(x), torch.zeros_like(gain), _room(joined)
        sizes = [x.shape[:-1].numel(), x.shape[-1], len(d_made)]
        _call("first_backward", joined.dtype, sizes, [*kept, d_x, d_gain, room, *d_made])
        return None, d_x, d_gain, *room[:-TILE].chunk(len(d_made))


class _SecondHalf(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, attended: Tensor, x: Tensor, *parameters: Tensor) -> Tensor:
        *gains, out, gate, up, down = parameters
        kind, tokens = attended.dtype, x.shape[:-1]
        attended, x = attended.contiguous(), x.contiguous()
        weights = [out.to(kind), torch.cat([gate, up]).to(kind), down.to(kind)]
        y, z, joined = (
            torch.empty_like(attended),
            torch.empty_like(attended),
            attended.new_empty(*tokens, 2 * len(gate)),
        )
        x1, x2, inverse = torch.empty_like(x), torch.empty_like(x), x.new_empty(3, tokens.numel())
        kept = [attended, x, *gains, *weights, y, joined, z, x1, *inverse]
        _call("second_forward", kind, [tokens.numel(), *down.shape], [*kept, x2])
        ctx.save_for_backward(*kept)
        return x2

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        kept = ctx.saved_tensors
        attended, x = kept[:2]
        weights = kept[5:8]
        d_x2 = gradients[0].contiguous()
        d_attended, d_x, d_gains = torch.empty_like(attended), torch.empty_like(x), x.new_zeros(3, x.shape[-1])
        rooms = [_room(weight) for weight in weights]
        sizes = [x.shape[:-1].numel(), *weights[2].shape]
        _call("second_backward", attended.dtype, sizes, [*kept, d_x2, d_attended, d_x, *d_gains, *rooms])
        d_out, d_joined, d_down = (room[:-TILE] for room in rooms)
        return d_attended, d_x, *d_gains, d_out, *d_joined.chunk(2), d_down


def _room(weight: Tensor) -> Tensor:
    """For the gradient of a weight, in fp32; the kernels write whole tiles of rows, so there is one more."""
    return torch.zeros(len(weight) + TILE, weight.shape[1])


def _kernels(kind: torch.dtype) -> ctypes.CDLL | None:
    return library("halves", f"-DNUMBER={NUMBERS[kind]}")


def _call(name: str, kind: torch.dtype, sizes: Sequence[int], tensors: Sequence[Tensor]) -> None:
    """Call a kernel with the sizes and addresses of its problem, 64 bits each."""
    numbers = [*sizes, *(tensor.data_ptr() for tensor in tensors)]
    getattr(_kernels(kind), name)((ctypes.c_int64 * len(numbers))(*numbers))
