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

# Steps below which compiling costs more than it saves, at width 128. fp32 from a measurement (AVX2: 0.45 -> 0.38 s a
# step after minutes of compiling, LOG.md); bf16 from figures for another machine (15-30 s, half of a step): a guess.
BREAK_EVEN_STEPS = {torch.bfloat16: 600, torch.float32: 6000}


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


def choose(training: TrainingOptions) -> Hardware:
    """Resolve `auto`; where a wish cannot be met, go on without and say so."""
    notes = []
    device = device_of(training.device)
    fast = has_fast_bf16(device)
    precision = (
        torch.bfloat16 if training.precision == "bf16" or (training.precision == "auto" and fast) else torch.float32
    )
    emulates = precision is torch.bfloat16 and not fast
    if emulates:
        notes.append("no bf16 arithmetic here: products are computed in fp32 and rounded to bf16, which saves no time")
    wanted = training.compile == "on" or (training.compile == "auto" and training.steps >= BREAK_EVEN_STEPS[precision])
    if wanted and emulates:
        if training.compile == "on":
            notes.append("products rounded to bf16 cannot be compiled: training runs without torch.compile")
        wanted = False
    if wanted and not has_compiler():
        notes.append("no C++ compiler found: training runs without torch.compile")
        wanted = False
    return Hardware(precision, wanted, tuple(notes), device, emulates)
