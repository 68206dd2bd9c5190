"""Every registered optimizer; AdamW and Muon against torch's own."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import nn

from lengthlab.config.schema import Config
from lengthlab.model.build import build_model
from lengthlab.optimizers import OPTIMIZERS
from lengthlab.optimizers.adamw import TorchAdamW
from lengthlab.optimizers.muon import Muon, block_matrices


@pytest.mark.parametrize("name", OPTIMIZERS.names())
def test_gains_and_numbers_for_each_head_do_not_decay(name: str, smoke: Callable[..., Config]) -> None:
    config = smoke(f"training.optimizer={name}", "encoding=kerple-log", "model.log_scaling=learned")
    model = build_model(config, 48)
    free = {
        id(p) for key, p in model.named_parameters() if key.split(".")[-1] in ("r1", "r2", "log_scale") or "norm" in key
    }
    groups = [
        g
        for o in OPTIMIZERS[name].load()(config.training.optimizer).build(model, torch.float32)
        for g in o.param_groups
    ]
    decayed = {id(p) for group in groups if group["weight_decay"] for p in group["params"]}
    assert len(free) >= 8 and not free & decayed


def test_muon_takes_the_matrices_of_the_blocks_only(smoke: Callable[..., Config]) -> None:
    config = smoke("encoding.shared=false", "model.layers=3")
    assert len(block_matrices(build_model(config, 48))) == 3 * (4 + 3)


def steps_of(optimizers: Sequence[tuple[list[nn.Parameter], torch.optim.Optimizer]]) -> None:
    """Five steps of each, all with the same random gradients."""
    generator = torch.Generator().manual_seed(1)
    for _ in range(5):
        gradients = [torch.randn(parameter.shape, generator=generator) for parameter in optimizers[0][0]]
        for parameters, optimizer in optimizers:
            optimizer.zero_grad()
            assert all(parameter.grad is None for parameter in parameters)
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad = gradient.clone()
            optimizer.step()


def test_adamw_is_torchs_to_the_last_bit_and_goes_on_from_its_state() -> None:
    start = torch.randn(8, 4, generator=torch.Generator().manual_seed(0))
    ours, theirs = [nn.Parameter(start.clone())], [nn.Parameter(start.clone())]
    mine = TorchAdamW(ours, lr=0.02, weight_decay=0.1, fused=True)
    other = torch.optim.AdamW(theirs, lr=0.02, weight_decay=0.1, fused=True)
    steps_of([(ours, mine), (theirs, other)])
    again = TorchAdamW(ours, lr=0.02, weight_decay=0.1, fused=True)
    again.load_state_dict(copy.deepcopy(other.state_dict()))
    steps_of([(ours, again), (theirs, other)])
    assert torch.equal(ours[0], theirs[0]) and not torch.equal(ours[0], start)


def test_muon_in_bfloat16_takes_the_same_steps_as_torch() -> None:
    generator = torch.Generator().manual_seed(0)
    start = [torch.randn(shape, generator=generator) for shape in [(24, 16), (16, 24), (16, 16), (24, 16)]]
    ours, theirs = ([nn.Parameter(matrix.clone()) for matrix in start] for _ in range(2))
    optimizers = [
        (ours, Muon(ours, lr=0.02, weight_decay=0.1, precision=torch.bfloat16)),
        (theirs, torch.optim.Muon(theirs, lr=0.02, weight_decay=0.1)),
    ]
    steps_of(optimizers)
    for mine, other, first in zip(ours, theirs, start, strict=True):
        moved = (other - first).norm()
        assert (mine - other).norm() < 0.02 * moved  # bf16 has three significant digits


def test_muon_refuses_what_is_not_a_matrix() -> None:
    with pytest.raises(ValueError, match="matrices only"):
        Muon([nn.Parameter(torch.zeros(3))], lr=0.1)


@pytest.mark.xdist_group("forks")
def test_a_run_starts_without_the_compiler(python: Any) -> None:
    """Importing it takes longer than anything else in a short run."""
    train = "import sys; from lengthlab.cli.app import main; main(['train', 'smoke', 'training.optimizer=muon'])"
    check = f"try: exec({train!r})\nexcept SystemExit: pass\nsys.exit('torch._dynamo' in sys.modules)"
    done = python.run("-c", check)
    assert done.returncode == 0 and "step 20/20" in done.stdout, done.stderr
