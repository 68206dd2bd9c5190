"""AdamW (Loshchilov and Hutter 2017)."""

import inspect
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from lengthlab.optimizers.optimizer import OptimizerChoice, QuickStart
from lengthlab.optimizers.options import AdamWOptions


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
