"""Keys and values kept from one forward pass to the next."""

from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass
class Cache:
    """Keys and values of the tokens seen so far, one pair (B, H, T, D) for each layer."""

    room: int = 0  # tokens for which memory is set aside, so that what is there is never copied; 0: as many as come
    layers: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)
    lengths: dict[int, int] = field(default_factory=dict)

    @property
    def length(self) -> int:
        return self.lengths.get(0, 0)

    def extend(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Append new keys and values; return all of them."""
        start = self.lengths.get(layer, 0)
        end = self.lengths[layer] = start + k.shape[2]
        if self.room:
            if layer not in self.layers:
                shape = (*k.shape[:2], self.room, k.shape[3])
                self.layers[layer] = (k.new_empty(shape), v.new_empty(shape))
            keys, values = self.layers[layer]
            keys[:, :, start:end], values[:, :, start:end] = k, v
            return keys[:, :, :end], values[:, :, :end]
        if layer in self.layers:
            old_k, old_v = self.layers[layer]
            k, v = torch.cat([old_k, k], dim=2), torch.cat([old_v, v], dim=2)
        self.layers[layer] = (k, v)
        return k, v


@dataclass
class Branch:
    """The first `rows` rows of a finished pass, taken back to `length` tokens and written on from there, in place."""

    layers: dict[int, tuple[Tensor, Tensor]]  # (B, H, T, D) for each layer, T the longest that is to come
    rows: int
    length: int

    def extend(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Write new keys and values over what followed; return all of them up to there, without a copy."""
        end = self.length + k.shape[2]
        keys, values = self.layers[layer]
        keys[: self.rows, :, self.length : end] = k
        values[: self.rows, :, self.length : end] = v
        return keys[: self.rows, :, :end], values[: self.rows, :, :end]
