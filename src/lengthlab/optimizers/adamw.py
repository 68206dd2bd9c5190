"""AdamW (Loshchilov and Hutter 2017)."""

import inspect
from typing import Annotated, Any

import torch
from pydantic import Field
from torch import nn
from torch.optim import Optimizer

from lengthlab.optimizers.optimizer import OptimizerChoice, QuickStart
from lengthlab.options import Options

Beta = Annotated[float, Field(ge=0, lt=1)]


class AdamWOptions(Options):
    """The paper states the rate and the decay; it leaves the betas open."""

    rate: float = Field(default=3e-4, gt=0, description="peak learning rate")
    weight_decay: float = Field(default=0.1, ge=0, description="decay of the matrices that AdamW updates")
    betas: tuple[Beta, Beta] = Field(default=(0.9, 0.98), description="decay of the running moments")


class AdamW(OptimizerChoice):
    """Decoupled weight decay on matrices, none on gains and scalars."""

    options_class = AdamWOptions

    def __init__(self, options: AdamWOptions) -> None:
        self.options = options

    def build(self, model: nn.Module, precision: torch.dtype) -> list[Optimizer]:
        return [adamw(list(model.parameters()), self.options)]


class TorchAdamW(QuickStart, torch.optim.AdamW):
    """torch's AdamW. Its step too has a wrapper (for gradients of the step itself, which nobody here wants)."""

    step = torch.no_grad()(inspect.unwrap(torch.optim.AdamW.step))


def adamw(parameters: list[nn.Parameter], options: AdamWOptions) -> Optimizer:
    """torch's AdamW over some parameters."""
    groups = decay_groups(parameters, options.weight_decay)
    return TorchAdamW(groups, lr=options.rate, betas=options.betas, fused=True)


def decay_groups(parameters: list[nn.Parameter], weight_decay: float) -> list[dict[str, Any]]:
    """Matrices and tables with weight decay; gains, scalars and what has one number for each head (H, 1, 1) without."""
    return [
        {"params": [p for p in parameters if p.ndim == 2], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.ndim != 2], "weight_decay": 0.0},
    ]
