"""Muon (Jordan et al. 2024), with the rules of `torch.optim.Muon` and an iteration of our own (`orthogonalise.py`).

All matrices of one shape are orthogonalised together, in the precision asked for; in bfloat16 the updates agree with
torch's (see the tests).
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from lengthlab.optimizers.adamw import adamw
from lengthlab.optimizers.optimizer import OptimizerChoice, QuickStart
from lengthlab.optimizers.options import MuonOptions
from lengthlab.optimizers.orthogonalise import orthogonalise


class Muon(QuickStart):
    """Nesterov momentum, orthogonalised, with decoupled weight decay. Matrices only.

    theta <- (1 - lr * decay) * theta - lr * sqrt(max(1, rows / columns)) * orthogonalise(momentum)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        precision: torch.dtype = torch.float32,
    ) -> None:
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})
        self.precision = precision
        if any(p.ndim != 2 for group in self.param_groups for p in group["params"]):
            raise ValueError("Muon updates matrices only")

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = None if closure is None else torch.enable_grad()(closure)()
        for group in self.param_groups:
            by_shape: dict[torch.Size, list[Tensor]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    by_shape[parameter.shape].append(parameter)
            for (rows, columns), parameters in by_shape.items():
                self._update(parameters, group, math.sqrt(max(1, rows / columns)))
        return loss

    def _update(self, parameters: list[Tensor], group: dict[str, Any], ratio: float) -> None:
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        for parameter in parameters:
            if "momentum_buffer" not in self.state[parameter]:
                self.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)
        buffers = [self.state[parameter]["momentum_buffer"] for parameter in parameters]
        torch._foreach_lerp_(buffers, gradients, 1 - group["momentum"])
        ahead = torch.stack(torch._foreach_lerp(gradients, buffers, group["momentum"]))
        updates = orthogonalise(ahead, precision=self.precision)
        torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
        torch._foreach_add_(parameters, updates.unbind(), alpha=-group["lr"] * ratio)


class MuonAndAdamW(OptimizerChoice):
    """Muon on the matrices of the blocks; AdamW on embeddings, output, gains and encodings."""

    options_class = MuonOptions

    def __init__(self, options: MuonOptions) -> None:
        self.options = options

    def build(self, model: nn.Module, precision: torch.dtype) -> list[Optimizer]:
        options = self.options
        matrices = block_matrices(model)
        chosen = {id(matrix) for matrix in matrices}
        rest = [parameter for parameter in model.parameters() if id(parameter) not in chosen]
        muon = Muon(matrices, options.muon_rate, options.muon_weight_decay, precision=precision)
        return [muon, adamw(rest, options)]


def block_matrices(model: nn.Module) -> list[nn.Parameter]:
    """The attention and feed-forward matrices of the blocks, without those of the encodings."""
    return [
        parameter
        for name, parameter in model.named_parameters()
        if name.startswith("blocks.") and parameter.ndim == 2 and ".encodings." not in name
    ]
