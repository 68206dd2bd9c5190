"""What an optimizer is here."""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import nn
from torch.optim import Optimizer

from lengthlab.options import Options


class OptimizerChoice(ABC):
    """Makes the torch optimizers of a model, built from its options."""

    options_class: ClassVar[type[Options]]

    @abstractmethod
    def build(self, model: nn.Module, precision: torch.dtype) -> list[Optimizer]:
        """Optimizers over all parameters, each at its peak rate. `precision` is the one matrices multiply in."""
