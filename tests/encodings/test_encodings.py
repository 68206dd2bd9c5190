"""Contracts of every registered encoding, inside a real model."""

from typing import Any

import pytest
import torch
from torch import Tensor

from lengthlab.encodings import ENCODINGS
from lengthlab.model.attention import Cache
from lengthlab.model.build import build_model
from lengthlab.model.transformer import Transformer
from lengthlab.recipes.load import validate

VOCABULARY = 20


SHAPE = {"layers": 2, "width": 32, "feedforward": 48, "heads": 4}


def build(name: str, shared: bool = True, **model: Any) -> Transformer:
    config = validate({"encoding": {"kind": name, "shared": shared}, "model": SHAPE | model})
    model_ = build_model(config, VOCABULARY).eval()
    for parameter in model_.encodings.parameters():  # some start at zero, and would then show nothing
        torch.nn.init.normal_(parameter, std=0.3, generator=torch.Generator().manual_seed(1))
    return model_


def sample(length: int, rows: int = 3, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Random tokens and increasing, non-contiguous ids."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(VOCABULARY, (rows, length), generator=generator)
    ids = torch.randperm(4 * length, generator=generator)[:length].sort().values[None]
    return tokens, ids


every = pytest.mark.parametrize("name", ENCODINGS.names())
SHARINGS = [
    pytest.param(name, shared, id=f"{name}-{'shared' if shared else 'own'}")
    for name in ENCODINGS.names()
    for shared in (True, False)
    if shared or name != "learned"  # a table of embeddings acts once: it is always shared
]
every_sharing = pytest.mark.parametrize(("name", "shared"), SHARINGS)


@every_sharing
def test_causal(name: str, shared: bool) -> None:
    model, (tokens, ids) = build(name, shared), sample(12)
    changed = tokens.clone()
    changed[:, 7:] = (changed[:, 7:] + 1) % VOCABULARY
    before, after = model(tokens, [ids]), model(changed, [ids])
    torch.testing.assert_close(before[:, :7], after[:, :7])
    assert not torch.allclose(before[:, 7:], after[:, 7:])


@every_sharing
@torch.no_grad()
def test_cached_decoding_equals_the_full_pass(name: str, shared: bool) -> None:
    model, (tokens, ids) = build(name, shared), sample(10)
    cache, pieces = Cache(), []
    for start, stop in [(0, 4), *((i, i + 1) for i in range(4, 10))]:
        pieces.append(model(tokens[:, start:stop], [ids], cache=cache))
    torch.testing.assert_close(torch.cat(pieces, dim=1), model(tokens, [ids]), atol=1e-5, rtol=1e-5)


@every_sharing
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
    model, (tokens, ids) = build(name), sample(250, rows=1)  # ids reach 1,000
    assert model(tokens, [ids]).isfinite().all()


@every_sharing
def test_gradients_reach_every_parameter(name: str, shared: bool) -> None:
    model, (tokens, ids) = build(name, shared), sample(12)
    model(tokens, [ids]).square().sum().backward()
    untouched = [key for key, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert not untouched


@every
def test_weights_depend_on_their_seed_alone(name: str) -> None:
    config = validate({"encoding": name, "model": SHAPE})
    torch.manual_seed(1)
    first = build_model(config, VOCABULARY).state_dict()
    torch.manual_seed(2)
    second = build_model(config, VOCABULARY).state_dict()
    assert all(torch.equal(first[key], second[key]) for key in first)


@every
@torch.no_grad()
def test_two_pairs_act_at_once(name: str) -> None:
    config = validate({"encoding": name, "also": [{"encoding": "fire"}], "model": "tiny"})
    alone = validate({"encoding": name, "model": "tiny"})
    tokens, ids = sample(8)
    both = build_model(config, VOCABULARY).eval()(tokens, [ids, ids])
    assert both.shape == build_model(alone, VOCABULARY).eval()(tokens, [ids]).shape


@every
@torch.no_grad()
def test_relative_encodings_see_differences_only(name: str) -> None:
    model, (tokens, ids) = build(name), sample(12)
    shifted = torch.allclose(model(tokens, [ids]), model(tokens, [ids + 900]), atol=1e-4)
    assert shifted == ENCODINGS[name].load().relative


@every
@torch.no_grad()
def test_double_and_unordered_ids_are_accepted(name: str) -> None:
    model, (tokens, _) = build(name), sample(10)
    ids = torch.tensor([[0, 3, 2, 1, 4, 3, 2, 1, 4, 3]])
    assert model(tokens, [ids]).isfinite().all()


@every
@torch.no_grad()
def test_every_encoding_but_none_acts(name: str) -> None:
    """With its parameters moved off their start, the encoding changes the output for other ids, or is contextual."""
    model, (tokens, ids) = build(name), sample(12)
    changed = not torch.allclose(model(tokens, [ids]), model(tokens, [ids.flip(1)]), atol=1e-5)
    assert changed == (name not in ("none", "cope"))


ATTENTION = [
    {"attention": "stick-breaking"},
    {"log_scaling": "fixed"},
    {"log_scaling": "learned"},
    {"logit_factor": 2.0, "logit_factor_at_test": 3.0},
    {"loops": 3, "injection": True},
    {"mask": "prefix"},
]


@every
@pytest.mark.parametrize("options", ATTENTION, ids=lambda o: "-".join(map(str, o.values())))
def test_contracts_hold_with_every_attention_option(name: str, options: dict[str, Any]) -> None:
    model, (tokens, ids) = build(name, **options), sample(10)
    prompt = 4
    with torch.no_grad():
        full = model(tokens, [ids], prompt=prompt)
        cache, pieces = Cache(), []
        for start, stop in [(0, prompt), *((i, i + 1) for i in range(prompt, 10))]:
            pieces.append(model(tokens[:, start:stop], [ids], cache=cache, prompt=prompt))
        torch.testing.assert_close(torch.cat(pieces, dim=1), full, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(model(tokens, [ids], first=6, prompt=prompt), full[:, 6:], atol=1e-4, rtol=1e-4)
        changed = tokens.clone()
        changed[:, 7:] = (changed[:, 7:] + 1) % VOCABULARY
        torch.testing.assert_close(model(changed, [ids], prompt=prompt)[:, :7], full[:, :7], atol=1e-4, rtol=1e-4)
    model.train()
    model(tokens, [ids], prompt=prompt).square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
