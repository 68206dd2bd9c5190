"""The processes that train one model together, if torchrun started more than one.

Every process draws the whole step and takes its own rows of it, so the examples and their order do not depend on how
many there are; gradients are summed, not averaged, because the loss is already divided by the tokens of the whole step.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn

from lengthlab.batches import Batch
from lengthlab.model.build import CPU


@dataclass(frozen=True)
class World:
    """This process's number among all."""

    rank: int = 0
    size: int = 1
    device: torch.device = CPU

    @property
    def first(self) -> bool:
        """Whether this process writes files and speaks."""
        return self.rank == 0

    def share(self, batch: Batch) -> Batch | None:
        """This process's rows of a batch; None if there are none for it."""
        count = len(batch.tokens)
        start, stop = count * self.rank // self.size, count * (self.rank + 1) // self.size
        return batch.rows(start, stop) if stop > start else None

    def sum_gradients(self, model: nn.Module) -> None:
        """Give every process the sum of all gradients."""
        if self.size == 1:
            return
        parameters = list(model.parameters())
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        flat = torch.cat([parameter.grad.flatten() for parameter in parameters if parameter.grad is not None])
        distributed.all_reduce(flat)
        for parameter, part in zip(parameters, flat.split([p.numel() for p in parameters]), strict=True):
            assert parameter.grad is not None
            parameter.grad.copy_(part.view_as(parameter))

    def sum(self, *values: float) -> list[float]:
        """Numbers summed over all processes."""
        if self.size == 1:
            return list(values)
        total: Tensor = torch.tensor(values, dtype=torch.float64, device=self.device)
        distributed.all_reduce(total)
        return total.tolist()


@contextmanager
def world(device: torch.device) -> Iterator[World]:
    """Join the processes that torchrun started, or be alone. They talk by NCCL on GPUs, by gloo on CPUs."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield World(device=device)
        return
    if device.type == "cuda":
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield World(distributed.get_rank(), size, device)
    finally:
        distributed.destroy_process_group()
