"""What lies between a block's matrix products: RMS norm and GeGLU.

Written in torch each is a chain of functions, each of which goes through memory; torch.compile makes it one pass. Only
these are compiled: matrix products gain nothing from it. One version serves all lengths and is there in seconds;
compiling the whole model took 136 s for six lengths where this took 6 s, and its steps were no faster (LOG.md). In
training on a CPU kernels go further (`model/halves.py`).
"""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor
from torch.nn import functional as F


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
