"""Lion (Chen et al. 2023, arXiv:2302.06675): the sign of an interpolated momentum, with decoupled weight decay."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from lengthlab.optimizers.adamw import decay_groups
from lengthlab.optimizers.optimizer import OptimizerChoice, QuickStart
from lengthlab.optimizers.options import LionOptions


class Lion(QuickStart):
    """theta <- (1 - lr * decay) * theta - lr * sign(b1 * m + (1 - b1) * g);  m <- b2 * m + (1 - b2) * g."""

    def __init__(self, params: Iterable[Any], lr: float, betas: tuple[float, float], weight_decay: float = 0.0) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = None if closure is None else torch.enable_grad()(closure)()
        for group in self.param_groups:
            first, second = group["betas"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if "momentum_buffer" not in state:
                    state["momentum_buffer"] = torch.zeros_like(parameter)
                momentum = state["momentum_buffer"]
                update = parameter.grad.lerp(momentum, first).sign_()
                parameter.mul_(1 - group["lr"] * group["weight_decay"]).add_(update, alpha=-group["lr"])
                momentum.lerp_(parameter.grad, 1 - second)
        return loss


class LionChoice(OptimizerChoice):
    """Lion for everything; decay on matrices, none on gains and scalars."""

    options_class = LionOptions

    def __init__(self, options: LionOptions) -> None:
        self.options = options

    def build(self, model: nn.Module, precision: torch.dtype) -> list[Optimizer]:
        groups = decay_groups(list(model.parameters()), self.options.weight_decay)
        return [Lion(groups, lr=self.options.rate, betas=self.options.betas)]
