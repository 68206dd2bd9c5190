"""Contracts of optimizers, on the weights of a real model."""

import copy

import torch
from torch.optim import Optimizer

from lengthlab.config.contracts import Contract, Options
from lengthlab.config.load import validate
from lengthlab.model.build import build_model
from lengthlab.model.transformer import Transformer
from lengthlab.optimizers import OPTIMIZERS


def build(name: str, options: Options, shared: bool = True) -> tuple[Transformer, list[Optimizer]]:
    """A small model, and the optimizers of its parameters."""
    chosen = {"optimizer": {"kind": name, **options}}
    encoding = {"kind": "fire", "shared": shared}
    config = validate({"model": "tiny", "encoding": encoding, "training": chosen})
    model = build_model(config, 20)
    return model, OPTIMIZERS[name].load()(config.training.optimizer).build(model, torch.float32)


def step(model: Transformer, optimizers: list[Optimizer], seed: int) -> None:
    """One step with random gradients."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator)
    for optimizer in optimizers:
        optimizer.step()


def every_parameter_belongs_to_exactly_one_group(name: str, options: Options) -> None:
    for shared in (True, False):
        model, optimizers = build(name, options, shared)
        covered = [id(p) for optimizer in optimizers for group in optimizer.param_groups for p in group["params"]]
        assert sorted(covered) == sorted(id(p) for p in model.parameters())


def a_step_moves_every_parameter(name: str, options: Options) -> None:
    model, optimizers = build(name, options)
    before = {key: p.detach().clone() for key, p in model.named_parameters()}
    step(model, optimizers, 0)
    assert all(p.isfinite().all() for p in model.parameters())
    still = [key for key, p in model.named_parameters() if torch.equal(p, before[key])]
    assert not still, f"it leaves {', '.join(still)}"


def it_resumes_from_its_state(name: str, options: Options) -> None:
    model, optimizers = build(name, options)
    step(model, optimizers, 0)
    again, others = build(name, options)
    again.load_state_dict(model.state_dict())
    for mine, other in zip(optimizers, others, strict=True):
        other.load_state_dict(copy.deepcopy(mine.state_dict()))
    step(model, optimizers, 1)
    step(again, others, 1)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))


OF_OPTIMIZERS: list[Contract] = [
    every_parameter_belongs_to_exactly_one_group,
    a_step_moves_every_parameter,
    it_resumes_from_its_state,
]
