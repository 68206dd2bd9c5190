"""What the machine is good at: precision and compilation, chosen or forced.

Both choices follow from what the processor can do, never from a timing, so that the same config gives
the same numbers on the same machine.
"""

import os
import shutil
from dataclasses import dataclass

import torch

from lengthlab.config import TrainingOptions
from lengthlab.model.device import CPU, device_of

# Training FLOPs from which compiling saves more time than it takes. fp32 from `bench train --compile` and two recipes
# (AVX2: 13-20 s of compiling, 3-6% of a step saved, LOG.md); bf16, of which a step saves more, is a guess.
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
    """Whether the processor has bf16 arithmetic; emulated, it is tens of times slower than fp32."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def has_compiler() -> bool:
    """Whether torch.compile finds a C++ compiler."""
    return any(shutil.which(name) for name in (os.environ.get("CXX") or "g++", "clang++", "c++"))


def choose(training: TrainingOptions, flops: float) -> Hardware:
    """Resolve `auto` for a run of so many FLOPs; where a wish cannot be met, go on without and say so."""
    notes = []
    device = device_of(training.device)
    fast = has_fast_bf16(device)
    precision = (
        torch.bfloat16 if training.precision == "bf16" or (training.precision == "auto" and fast) else torch.float32
    )
    emulates = precision is torch.bfloat16 and not fast
    if emulates:
        notes.append("no bf16 arithmetic here: products are computed in fp32 and rounded to bf16, which saves no time")
    wanted = training.compile == "on" or (training.compile == "auto" and flops >= BREAK_EVEN_FLOPS[precision])
    if wanted and emulates:
        if training.compile == "on":
            notes.append("products rounded to bf16 cannot be compiled: training runs without torch.compile")
        wanted = False
    if wanted and not has_compiler():
        notes.append("no C++ compiler found: training runs without torch.compile")
        wanted = False
    return Hardware(precision, wanted, tuple(notes), device, emulates)
