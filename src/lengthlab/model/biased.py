"""Attention with an additive bias that has a gradient, on a CPU: softmax(scale q k + bias) v.

torch's fused attention on a CPU refuses a bias that needs a gradient, and flex_attention has no backward pass there.
Written out in torch, the logits, the weights and their gradients of a whole batch go through memory again and again.
Here they exist for a few queries at a time, keys that a query cannot see are never touched, and the backward pass
recomputes the weights: nothing but q, k, v and one number for each query is kept. Forward and backward of 64 x 4 heads
x 250 tokens x 32 take 103 ms instead of 219 in fp32 (one thread, AVX2; LOG.md).

Where there is a C++ compiler, a kernel does it (`kernels/attention.cpp`), one head of one example at a time. Elsewhere
it is done in torch, in pieces of the batch that fit into a cache (`attention_in_pieces`).

    >>> q, k, v = (torch.randn(2, 4, 5, 8) for _ in range(3))
    >>> bias = torch.randn(1, 4, 5, 5).masked_fill(torch.ones(5, 5).triu(1).bool(), float("-inf"))
    >>> biased_attention(q, k, v, bias, scale=8**-0.5, reach=torch.arange(1, 6)).shape
    torch.Size([2, 4, 5, 8])
"""

import ctypes
from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lengthlab.model.kernels.library import NUMBERS, library
from lengthlab.model.kernels.threads import parts, side_by_side

NUMBERS_AT_ONCE = 2**16  # logits of a piece: 256 KiB in fp32, of which several copies exist at a time
QUERIES_AT_ONCE = 64


def attention_in_pieces(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, scale: float, reach: Tensor) -> Tensor:
    """`biased_attention` in torch: a few examples at a time, a block of queries of each against the keys in reach."""
    return _Pieces.apply(q, k, v, bias, scale, reach)


class _Pieces(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, bias: Tensor, scale: float, reach: Tensor) -> Tensor:
        ctx.save_for_backward(q, k, v, bias, reach)
        ctx.scale = scale
        out = torch.empty_like(q)
        with torch.autocast(q.device.type, enabled=False):
            for examples, queries, seen in _pieces(q, reach):
                weights = _weights(q, k, bias, scale, examples, queries, seen)
                out[examples, :, queries] = weights @ v[examples, :, :seen]
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (d_out,) = gradients
        q, k, v, bias, reach = ctx.saved_tensors
        d_q, d_k, d_v = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
        d_bias = torch.zeros_like(bias) if ctx.needs_input_grad[3] else None
        with torch.autocast(q.device.type, enabled=False):
            for examples, queries, seen in _pieces(q, reach):
                weights = _weights(q, k, bias, ctx.scale, examples, queries, seen)
                d_mixed = d_out[examples, :, queries]
                d_weights = d_mixed @ v[examples, :, :seen].mT
                d_logits = torch._softmax_backward_data(d_weights, weights, -1, weights.dtype)
                d_v[examples, :, :seen] += weights.mT @ d_mixed
                if d_bias is not None:
                    mine = d_bias[examples if len(bias) > 1 else slice(None), :, queries, :seen]
                    mine += d_logits.sum_to_size(mine.shape)
                d_logits *= ctx.scale
                d_q[examples, :, queries] = d_logits @ k[examples, :, :seen]
                d_k[examples, :, :seen] += d_logits.mT @ q[examples, :, queries]
        return d_q, d_k, d_v, d_bias, None, None


def _pieces(q: Tensor, reach: Tensor) -> Iterator[tuple[slice, slice, int]]:
    """Examples, queries, and how many keys they see."""
    batch, heads, tokens, _ = q.shape
    for first in range(0, tokens, QUERIES_AT_ONCE):
        last = min(first + QUERIES_AT_ONCE, tokens)
        seen = int(reach[last - 1])
        rows = max(1, NUMBERS_AT_ONCE // (heads * (last - first) * seen))
        for start in range(0, batch, rows):
            yield slice(start, start + rows), slice(first, last), seen


def _weights(q: Tensor, k: Tensor, bias: Tensor, scale: float, examples: slice, queries: slice, seen: int) -> Tensor:
    """The weights of a piece: (examples, H, queries, seen)."""
    added = bias[examples if len(bias) > 1 else slice(None), :, queries, :seen]
    return torch.softmax(torch.add(added, q[examples, :, queries] @ k[examples, :, :seen].mT, alpha=scale), -1)


def biased_attention(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor, scale: float = 1.0, reach: Tensor | None = None
) -> Tensor:
    """softmax(scale q k + bias) v: (B, H, Tq, D). Everything has a gradient, the bias too.

    Logits, weights and sums are fp32 or fp64, whatever q, k and v are; the kernel multiplies bf16 numbers in bf16.

    q (B, H, Tq, D), k and v (B, H, Tk, D), bias (1 or B, 1 or H, Tq, Tk), minus infinity where a query may not look;
    every query sees at least one key. `reach` (Tq,) says how many keys each query sees at most, never fewer than the
    one before it; the bias must be minus infinity for later keys. By default it is all of them.
    """
    kind = q.dtype
    if reach is None:
        reach = torch.full((q.shape[2],), k.shape[2])
    if kind in NUMBERS and _kernel(q) is not None:
        return _Kernel.apply(q, k, v, bias.float(), scale, reach)
    if kind in (torch.bfloat16, torch.float16):
        q, k, v = q.float(), k.float(), v.float()
    return attention_in_pieces(q, k, v, bias.to(q.dtype), scale, reach).to(kind)


class _Rows(ctypes.Structure):
    _fields_ = (("start", ctypes.c_void_p), *((name, ctypes.c_long) for name in ("example", "head", "token")))

    @classmethod
    def of(cls, tensor: Tensor) -> "_Rows":
        """A tensor (1 or B, 1 or H, T, D) whose rows are contiguous; one of size 1 is read for all."""
        steps = [0 if size == 1 else step for size, step in zip(tensor.shape[:2], tensor.stride()[:2], strict=True)]
        return cls(tensor.data_ptr(), *steps, tensor.stride(2))


class _Problem(ctypes.Structure):
    _fields_ = (
        *((name, _Rows) for name in ("q", "k", "v", "bias")),
        ("log_sums", ctypes.c_void_p),
        ("reach", ctypes.c_void_p),
        *((name, ctypes.c_long) for name in ("heads", "queries", "keys")),
        ("scale", ctypes.c_float),
        *((name, _Rows) for name in ("out", "d_out", "d_q", "d_k", "d_v", "d_bias")),
    )


class _Kernel(torch.autograd.Function):
    """Calls the kernel."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, bias: Tensor, scale: float, reach: Tensor) -> Tensor:
        q, k, v, bias = map(_with_contiguous_rows, (q, k, v, bias))
        out, log_sums = _like_tokens(q), q.new_empty(q.shape[:3], dtype=torch.float32)
        problem = _problem(q, k, v, bias, scale, reach, log_sums)
        problem.out = _Rows.of(out)
        _in_threads(_kernel(q).forward, problem, len(q), q.shape[1], by_head=True)
        ctx.save_for_backward(q, k, v, bias, reach, log_sums)
        ctx.scale = scale
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (d_out,) = gradients
        q, k, v, bias, reach, log_sums = ctx.saved_tensors
        problem = _problem(q, k, v, bias, ctx.scale, reach, log_sums)
        d_out = _with_contiguous_rows(d_out)
        d_q, d_k, d_v = _like_tokens(q), _like_tokens(k), _like_tokens(v)
        d_bias = torch.zeros_like(bias) if ctx.needs_input_grad[3] else None
        for name, tensor in {"d_out": d_out, "d_q": d_q, "d_k": d_k, "d_v": d_v, "d_bias": d_bias}.items():
            if tensor is not None:
                setattr(problem, name, _Rows.of(tensor))
        own_head = d_bias is None or len(d_bias[0]) == q.shape[1]  # else heads would add to the same numbers
        _in_threads(_kernel(q).backward, problem, len(q), q.shape[1], by_head=own_head)
        return d_q, d_k, d_v, d_bias, None, None


def _kernel(q: Tensor) -> Any:
    width = q.shape[-1]
    return library("attention", f"-DHEAD={width}", f"-DNUMBER={NUMBERS[q.dtype]}") if width % 8 == 0 else None


def _problem(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, scale: float, reach: Tensor, log_sums: Tensor) -> _Problem:
    rows = [_Rows.of(tensor) for tensor in (q, k, v, bias)]
    sizes = (q.shape[1], q.shape[2], k.shape[2], scale)
    return _Problem(*rows, log_sums.data_ptr(), reach.data_ptr(), *sizes)


def _with_contiguous_rows(tensor: Tensor) -> Tensor:
    return tensor if tensor.stride(-1) == 1 else tensor.contiguous()


def _like_tokens(tensor: Tensor) -> Tensor:
    """Room for (B, H, T, D), heads side by side as the matrix products want them."""
    batch, heads, tokens, width = tensor.shape
    return tensor.new_empty(batch, tokens, heads, width).transpose(1, 2)


def _in_threads(call: Any, problem: _Problem, examples: int, heads: int, by_head: bool) -> None:
    """Split the heads over torch's threads, if each of them can be computed by itself."""
    ranges = parts(heads) if by_head else [(0, heads)]
    arguments = [(ctypes.byref(problem), *map(ctypes.c_long, (0, examples, *heads))) for heads in ranges]
    side_by_side([partial(call, *one) for one in arguments])
