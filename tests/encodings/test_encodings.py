"""Contracts of every registered encoding, inside a real model."""

import pytest
import torch
from torch import Tensor

from lengthlab.encodings import ENCODINGS
from lengthlab.model.attention import Cache
from lengthlab.model.build import build_model
from lengthlab.model.transformer import Transformer
from lengthlab.recipes.load import validate

VOCABULARY = 20


def build(name: str, shared: bool = True, layers: int = 2) -> Transformer:
    shape = {"layers": layers, "width": 32, "feedforward": 48, "heads": 4}
    config = validate({"encoding": {"kind": name, "shared": shared}, "model": shape})
    return build_model(config, VOCABULARY).eval()


def sample(length: int, rows: int = 3, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Random tokens and increasing, non-contiguous ids."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(VOCABULARY, (rows, length), generator=generator)
    ids = torch.randperm(4 * length, generator=generator)[:length].sort().values[None]
    return tokens, ids


every = pytest.mark.parametrize("name", ENCODINGS.names())


@every
@pytest.mark.parametrize("shared", [True, False])
def test_causal(name: str, shared: bool) -> None:
    model, (tokens, ids) = build(name, shared), sample(12)
    changed = tokens.clone()
    changed[:, 7:] = (changed[:, 7:] + 1) % VOCABULARY
    before, after = model(tokens, [ids]), model(changed, [ids])
    torch.testing.assert_close(before[:, :7], after[:, :7])
    assert not torch.allclose(before[:, 7:], after[:, 7:])


@every
@pytest.mark.parametrize("shared", [True, False])
@torch.no_grad()
def test_cached_decoding_equals_the_full_pass(name: str, shared: bool) -> None:
    model, (tokens, ids) = build(name, shared), sample(10)
    cache, pieces = Cache(), []
    for start, stop in [(0, 4), *((i, i + 1) for i in range(4, 10))]:
        pieces.append(model(tokens[:, start:stop], [ids], cache=cache))
    torch.testing.assert_close(torch.cat(pieces, dim=1), model(tokens, [ids]), atol=1e-5, rtol=1e-5)


@every
@pytest.mark.parametrize("shared", [True, False])
@torch.no_grad()
def test_leaving_out_early_queries_changes_nothing(name: str, shared: bool) -> None:
    model, (tokens, ids) = build(name, shared), sample(11)
    torch.testing.assert_close(model(tokens, [ids], first=6), model(tokens, [ids])[:, 6:], atol=1e-5, rtol=1e-5)


@every
@torch.no_grad()
def test_ids_shared_by_the_batch_equal_ids_for_each_row(name: str) -> None:
    model, (tokens, ids) = build(name), sample(9)
    torch.testing.assert_close(model(tokens, [ids]), model(tokens, [ids.expand(3, -1)]), atol=1e-5, rtol=1e-5)


@every
@torch.no_grad()
def test_runs_far_beyond_the_training_length(name: str) -> None:
    model, (tokens, ids) = build(name), sample(300, rows=1)
    assert model(tokens, [ids]).isfinite().all()


@every
@pytest.mark.parametrize("shared", [True, False])
def test_gradients_reach_every_parameter(name: str, shared: bool) -> None:
    model, (tokens, ids) = build(name, shared), sample(12)
    model(tokens, [ids]).square().sum().backward()
    untouched = [key for key, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert not untouched


@every
def test_weights_depend_on_their_seed_alone(name: str) -> None:
    torch.manual_seed(1)
    first = build(name).state_dict()
    torch.manual_seed(2)
    second = build(name).state_dict()
    assert all(torch.equal(first[key], second[key]) for key in first)


@every
@torch.no_grad()
def test_two_pairs_act_at_once(name: str) -> None:
    config = validate({"encoding": name, "also": [{"encoding": "fire"}], "model": "tiny"})
    alone = validate({"encoding": name, "model": "tiny"})
    tokens, ids = sample(8)
    both = build_model(config, VOCABULARY).eval()(tokens, [ids, ids])
    assert both.shape == build_model(alone, VOCABULARY).eval()(tokens, [ids]).shape
