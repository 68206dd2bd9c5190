"""What an optimizer is here."""

import inspect
from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import nn
from torch.optim import Optimizer

from lengthlab.config.sections import Options


class OptimizerChoice(ABC):
    """Makes the torch optimizers of a model, built from its options."""

    options_class: ClassVar[type[Options]]

    @abstractmethod
    def build(self, model: nn.Module, precision: torch.dtype) -> list[Optimizer]:
        """Optimizers over all parameters, each at its peak rate. `precision` is the one matrices multiply in."""


class QuickStart(Optimizer):
    """A base for torch optimizers that are never compiled themselves.

    torch wraps these methods to keep torch.compile out of them. The first call of a wrapper imports the whole compiler,
    1.5 s of the 4 s that a short run takes to start, whether or not anything is ever compiled.
    """

    add_param_group = inspect.unwrap(Optimizer.add_param_group)
    zero_grad = inspect.unwrap(Optimizer.zero_grad)
    state_dict = inspect.unwrap(Optimizer.state_dict)
    load_state_dict = inspect.unwrap(Optimizer.load_state_dict)
