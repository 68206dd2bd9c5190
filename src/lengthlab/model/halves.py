"""The two halves of a block around its attention, each as one function, on a CPU.

Written in torch they are a dozen functions, each of which goes through memory. The kernels (`kernels/halves.cpp`) take
48 tokens at a time through all of it; the backward passes compute the outputs of norms and GeGLU again, so that only
their inputs are kept.
"""

import ctypes
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lengthlab.model.kernels.library import NUMBERS, ROWS, TILE, library
from lengthlab.model.kernels.threads import parts, side_by_side

FEW = 24  # tokens for which torch is as fast: a kernel first arranges the weights anew
LARGEST = 2**20  # numbers in a matrix: larger ones leave the caches, and torch multiplies bf16 twice as fast


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
    """Whether this process has the kernels."""
    return _kernels(torch.float32) is not None


def suits(width: int, hidden: int) -> bool:
    """Whether the kernels compute blocks of this width, with a feed-forward layer of that width."""
    return width % 16 == 0 and hidden % 16 == 0 and width * hidden <= LARGEST and kernels_here()


def can_be_one(x: Tensor, hidden: int) -> bool:
    """Whether the kernels can compute the halves of a block of this width, and it pays."""
    pays = torch.is_grad_enabled() or x.shape[:-1].numel() >= FEW
    return pays and x.dtype is torch.float32 and x.device.type == "cpu" and suits(x.shape[-1], hidden)


class _FirstHalf(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, kind: torch.dtype, x: Tensor, gain: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
        x, joined = x.contiguous(), torch.cat(weights).to(kind)
        made = [torch.empty_like(x, dtype=kind) for _ in weights]
        kept = [x, gain, joined, x.new_empty(x.shape[:-1])]
        _forward("first_forward", kind, x, [x.shape[-1], len(weights)], [*kept, *made])
        ctx.save_for_backward(*kept)
        return tuple(made)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, gain, joined, _ = kept = ctx.saved_tensors
        d_made = [gradient.contiguous() for gradient in gradients]
        d_x, sizes = torch.empty_like(x), [x.shape[-1], len(d_made)]
        d_gain, room = _backward("first_backward", joined.dtype, x, sizes, [*kept, d_x], [gain], [joined], d_made)
        return None, d_x, d_gain, *room.chunk(len(d_made))


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
        _forward("second_forward", kind, x, down.shape, [*kept, x2])
        ctx.save_for_backward(*kept)
        return x2

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        kept = ctx.saved_tensors
        (attended, x), gains, weights = kept[:2], kept[2:5], kept[5:8]
        d_attended, d_x = torch.empty_like(attended), torch.empty_like(x)
        given = [*kept, gradients[0].contiguous(), d_attended, d_x]
        sums = _backward("second_backward", attended.dtype, x, weights[2].shape, given, gains, weights)
        *d_gains, d_out, d_joined, d_down = sums
        return d_attended, d_x, *d_gains, d_out, *d_joined.chunk(2), d_down


def _kernels(kind: torch.dtype) -> ctypes.CDLL | None:
    return library("halves", f"-DNUMBER={NUMBERS[kind]}")


def _forward(name: str, kind: torch.dtype, x: Tensor, sizes: Sequence[int], tensors: Sequence[Tensor]) -> None:
    """Call a kernel for the rows of x, in as many threads as torch has."""
    ranges = parts(x.shape[:-1].numel(), ROWS)
    side_by_side([partial(_call, name, kind, sizes, tensors, *one) for one in ranges])


def _backward(
    name: str,
    kind: torch.dtype,
    x: Tensor,
    sizes: Sequence[int],
    given: Sequence[Tensor],
    gains: Sequence[Tensor],
    weights: Sequence[Tensor],
    last: Sequence[Tensor] = (),
) -> list[Tensor]:
    """The same for the backward pass; returns the gradients of gains and weights, which each thread sums by itself.

    The kernels write whole tiles of a weight's rows, so there is room for one tile more.
    """
    ranges = parts(x.shape[:-1].numel(), ROWS)
    rooms = [
        [
            *(torch.zeros(len(gain)) for gain in gains),
            *(torch.zeros(len(weight) + TILE, weight.shape[1]) for weight in weights),
        ]
        for _ in ranges
    ]
    calls = zip(rooms, ranges, strict=True)
    side_by_side([partial(_call, name, kind, sizes, [*given, *room, *last], *one) for room, one in calls])
    sums = [torch.stack(same).sum(0) if len(same) > 1 else same[0] for same in zip(*rooms, strict=True)]
    return [*sums[: len(gains)], *(total[:-TILE] for total in sums[len(gains) :])]


def _call(name: str, kind: torch.dtype, sizes: Sequence[int], tensors: Sequence[Tensor], first: int, end: int) -> None:
    """Call a kernel with the sizes and addresses of its problem, 64 bits each, for some of its rows."""
    numbers = [*sizes, *(tensor.data_ptr() for tensor in tensors)]
    getattr(_kernels(kind), name)((ctypes.c_int64 * len(numbers))(*numbers), ctypes.c_long(first), ctypes.c_long(end))
