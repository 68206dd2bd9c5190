"""Lion against its formula."""

import torch
from torch import nn

from lengthlab.optimizers.lion import Lion


def test_lion_follows_its_formula() -> None:
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(5, 4, generator=generator)
    parameter = nn.Parameter(start.clone())
    optimizer = Lion([parameter], lr=0.1, betas=(0.9, 0.99), weight_decay=0.2)
    theta, momentum = start.clone(), torch.zeros(5, 4)
    for _ in range(4):
        gradient = torch.randn(5, 4, generator=generator)
        parameter.grad = gradient.clone()
        optimizer.step()
        theta = theta - 0.1 * (torch.sign(0.9 * momentum + 0.1 * gradient) + 0.2 * theta)
        momentum = 0.99 * momentum + 0.01 * gradient
        torch.testing.assert_close(parameter.detach(), theta)
