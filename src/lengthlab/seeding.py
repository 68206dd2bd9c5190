"""The only place where randomness is made.

Every generator comes from a seed and a label, so streams never overlap and none depends on how much
another one drew. A step's data depends on (seed, label, step) alone: resuming needs no saved state.
"""

import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


def _sequence(seed: int, label: str, index: tuple[int, ...]) -> np.random.SeedSequence:
    # The length of the index is part of it: a SeedSequence takes [x] and [x, 0] for the same.
    return np.random.SeedSequence([seed, zlib.crc32(label.encode()), len(index), *index])


def generator(seed: int, label: str, *index: int) -> np.random.Generator:
    """A NumPy generator for the stream `label`, at `index` (such as a step) within it."""
    return np.random.Generator(np.random.PCG64(_sequence(seed, label, index)))


def torch_generator(seed: int, label: str, *index: int) -> "torch.Generator":
    """A torch CPU generator for the stream `label`, at `index` within it."""
    import torch

    state = _sequence(seed, label, index).generate_state(1, np.uint64)[0]
    return torch.Generator().manual_seed(int(state >> np.uint64(1)))
