"""bf16 training on processors without bf16 arithmetic.

There torch multiplies bf16 matrices one number at a time, tens of times slower than in fp32. Processors that can do
it multiply bf16 numbers, add up in fp32 and round the sum to bf16. The same comes out of a product in fp32 of the same
numbers, rounded once (but for the order of the sum): a run shows what bf16 does to a recipe,
for a quarter more time than fp32.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten
PRODUCTS = {
    aten.mm.default,
    aten.addmm.default,
    aten.bmm.default,
    aten.baddbmm.default,
    aten._scaled_dot_product_flash_attention_for_cpu.default,
    aten._scaled_dot_product_flash_attention_for_cpu_backward.default,
}


class Fp32Products(TorchDispatchMode):
    """Inside, products of bf16 tensors are computed in fp32 and rounded to bf16, forward and backward."""

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if func not in PRODUCTS or not any(_is_bf16(value) for value in args):
            return func(*args, **kwargs)
        result = func(*map(_to_fp32, args), **{name: _to_fp32(value) for name, value in kwargs.items()})
        if isinstance(result, Tensor):
            return result.bfloat16()
        if func is aten._scaled_dot_product_flash_attention_for_cpu.default:
            values, log_of_sums = result
            return values.bfloat16(), log_of_sums  # the second is fp32 in bf16 attention too
        return tuple(gradient.bfloat16() for gradient in result)


def _is_bf16(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype is torch.bfloat16


def _to_fp32(value: Any) -> Any:
    return value.float() if _is_bf16(value) else value
