"""An exponential moving average of the weights."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """average <- decay * average + (1 - decay) * weights, after each step, from the first weights on.

    The decay starts small, min(decay, (1 + n) / (10 + n)) after n steps, so that the first weights are soon forgotten.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.model = model
        self.decay = decay
        self.weights = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}

    @torch.no_grad()
    def update(self, steps: int) -> None:
        """Take in the weights after `steps` steps."""
        decay = min(self.decay, (1 + steps) / (10 + steps))
        for name, parameter in self.model.named_parameters():
            self.weights[name].lerp_(parameter, 1 - decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Within, the model has the averaged weights."""
        with swapped(self.model, self.weights):
            yield


@contextmanager
def swapped(model: nn.Module, weights: dict[str, Tensor]) -> Iterator[None]:
    """Within, the model has other weights; afterwards its own again."""
    own = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    _load(model, weights)
    try:
        yield
    finally:
        _load(model, own)


@torch.no_grad()
def _load(model: nn.Module, weights: dict[str, Tensor]) -> None:
    for name, parameter in model.named_parameters():
        parameter.copy_(weights[name])
