"""What the machine is good at: precision and compilation, chosen or forced.

Both choices follow from what the processor can do, never from a timing, so that the same config gives
the same numbers on the same machine.

A processor without bf16 arithmetic can still show what bf16 does to a recipe (`Fp32Products`): torch would multiply
bf16 matrices one number at a time there, tens of times slower than in fp32.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from lengthlab.config.training import TrainingOptions
from lengthlab.model.build import CPU, device_of
from lengthlab.model.halves import kernels_here
from lengthlab.model.kernels.library import compiler

# Training FLOPs from which compiling saves more time than it takes, where no kernel does the same at once. fp32 from
# two recipes (AVX2: 13-20 s of compiling, 3-6% of a step saved, LOG.md); bf16, of which a step saves more, is a guess.
BREAK_EVEN_FLOPS = {torch.bfloat16: 5e12, torch.float32: 2e13}


@dataclass(frozen=True)
class Hardware:
    """The choices made for a training run, and what there is to say about them."""

    precision: torch.dtype
    compile: bool
    notes: tuple[str, ...] = ()
    device: torch.device = CPU
    emulates: bool = False  # bf16 products computed in fp32

    @property
    def arithmetic(self) -> torch.dtype:
        """What the processor multiplies in."""
        return torch.float32 if self.emulates else self.precision


def has_fast_bf16(device: torch.device = CPU) -> bool:
    """Whether the processor has bf16 arithmetic; emulated, it is tens of times slower than fp32.

    `LENGTHLAB_BF16=yes` or `no` answers for the processor, here and in all child processes: this is how the tests see
    what a run does on the other kind of machine.
    """
    if (claimed := os.environ.get("LENGTHLAB_BF16")) in ("yes", "no"):
        return claimed == "yes"
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def has_compiler() -> bool:
    """Whether torch.compile finds a C++ compiler."""
    return compiler() is not None


def choose(training: TrainingOptions, flops: float) -> Hardware:
    """Resolve `auto` for a run of so many FLOPs; where a wish cannot be met, do without it and say so."""
    notes = []
    device = device_of(training.device)
    fast = has_fast_bf16(device)
    precision = (
        torch.bfloat16 if training.precision == "bf16" or (training.precision == "auto" and fast) else torch.float32
    )
    emulates = precision is torch.bfloat16 and not fast
    if emulates:
        notes.append("no bf16 arithmetic here: products are computed in fp32 and rounded to bf16, which saves no time")
    pays = flops >= BREAK_EVEN_FLOPS[precision] and not (device.type == "cpu" and kernels_here())
    wanted = training.compile == "on" or (training.compile == "auto" and pays)
    if wanted and emulates:
        if training.compile == "on":
            notes.append("products rounded to bf16 cannot be compiled: training runs without torch.compile")
        wanted = False
    if wanted and not has_compiler():
        notes.append("no C++ compiler found: training runs without torch.compile")
        wanted = False
    return Hardware(precision, wanted, tuple(notes), device, emulates)


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
    """Inside, products of bf16 tensors are computed in fp32 and rounded to bf16, forward and backward.

    Processors with bf16 arithmetic multiply bf16 numbers, add up in fp32 and round the sum to bf16. The same comes out
    here, but for the order of the sum, for a quarter more time than fp32.
    """

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
