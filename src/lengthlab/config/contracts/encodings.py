"""Contracts of encodings, inside a real model."""

from typing import Any

import torch
from pydantic import ValidationError
from torch import Tensor

from lengthlab.config.contracts import Contract, Options
from lengthlab.config.load import validate
from lengthlab.encodings import ENCODINGS
from lengthlab.model.build import build_model
from lengthlab.model.cache import Cache
from lengthlab.model.transformer import Transformer

VOCABULARY = 20
SHAPE = {"layers": 2, "width": 32, "feedforward": 48, "heads": 4}
PROMPT = 4
# What a model may do besides, each of which must leave the contracts standing.
ATTENTION: tuple[Options, ...] = (
    {"attention": "stick-breaking"},
    {"log_scaling": "fixed"},
    {"log_scaling": "learned"},
    {"logit_factor": 2.0, "logit_factor_at_test": 3.0},
    {"loops": 3, "injection": True},
    {"mask": "prefix"},
)


def to_try(name: str) -> list[Options]:
    """Weights shared by the layers, and weights for each, where the encoding has both."""
    found: list[Options] = []
    for shared in (True, False):
        try:
            ENCODINGS[name].options_class.model_validate({"kind": name, "shared": shared})
        except ValidationError:
            continue
        found.append({"shared": shared})
    return found


def build(name: str, options: Options, also: tuple[str, ...] = (), **model: Any) -> Transformer:
    """A small model whose encodings have left their initial values: some start at zero, and would then show nothing."""
    further = [{"encoding": kind} for kind in also]
    config = validate({"encoding": {"kind": name, **options}, "also": further, "model": SHAPE | model})
    built = build_model(config, VOCABULARY).eval()
    for parameter in built.encodings.parameters():
        torch.nn.init.normal_(parameter, std=0.3, generator=torch.Generator().manual_seed(1))
    return built


def sample(length: int, rows: int = 3, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Random tokens and increasing, non-contiguous ids."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(VOCABULARY, (rows, length), generator=generator)
    ids = torch.randperm(4 * length, generator=generator)[:length].sort().values[None]
    return tokens, ids


def _with_other_end(tokens: Tensor) -> Tensor:
    changed = tokens.clone()
    changed[:, 7:] = (changed[:, 7:] + 1) % VOCABULARY
    return changed


def _in_pieces(model: Transformer, tokens: Tensor, ids: Tensor, prompt: int | None = None) -> Tensor:
    """The logits of a prompt at once and then of one token at a time, with cached keys."""
    extra = {} if prompt is None else {"prompt": prompt}
    cache, pieces = Cache(), []
    for start, stop in [(0, PROMPT), *((i, i + 1) for i in range(PROMPT, tokens.shape[1]))]:
        pieces.append(model(tokens[:, start:stop], [ids], cache=cache, **extra))
    return torch.cat(pieces, dim=1)


@torch.no_grad()
def no_token_sees_a_later_one(name: str, options: Options) -> None:
    model, (tokens, ids) = build(name, options), sample(12)
    before, after = model(tokens, [ids]), model(_with_other_end(tokens), [ids])
    torch.testing.assert_close(before[:, :7], after[:, :7])
    assert not torch.allclose(before[:, 7:], after[:, 7:])


@torch.no_grad()
def cached_decoding_equals_the_full_pass(name: str, options: Options) -> None:
    model, (tokens, ids) = build(name, options), sample(10)
    torch.testing.assert_close(_in_pieces(model, tokens, ids), model(tokens, [ids]), atol=1e-5, rtol=1e-5)


@torch.no_grad()
def leaving_out_early_queries_changes_nothing(name: str, options: Options) -> None:
    model, (tokens, ids) = build(name, options), sample(11)
    torch.testing.assert_close(model(tokens, [ids], first=6), model(tokens, [ids])[:, 6:], atol=1e-5, rtol=1e-5)


@torch.no_grad()
def ids_shared_by_the_batch_equal_ids_for_each_row(name: str, options: Options) -> None:
    model, (tokens, ids) = build(name, options), sample(9)
    torch.testing.assert_close(model(tokens, [ids]), model(tokens, [ids.expand(3, -1)]), atol=1e-5, rtol=1e-5)


@torch.no_grad()
def long_inputs_are_finite(name: str, options: Options) -> None:
    model, (tokens, ids) = build(name, options), sample(250, rows=1)  # ids reach 1,000
    assert model(tokens, [ids]).isfinite().all()


def gradients_reach_every_parameter(name: str, options: Options) -> None:
    model, (tokens, ids) = build(name, options), sample(12)
    model(tokens, [ids]).square().sum().backward()
    untouched = [key for key, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert not untouched, f"none reach {', '.join(untouched)}"


def weights_depend_on_their_seed_alone(name: str, options: Options) -> None:
    config = validate({"encoding": {"kind": name, **options}, "model": SHAPE})
    state = torch.random.get_rng_state()
    torch.manual_seed(1)
    first = build_model(config, VOCABULARY).state_dict()
    torch.manual_seed(2)
    second = build_model(config, VOCABULARY).state_dict()
    torch.random.set_rng_state(state)
    assert all(torch.equal(first[key], second[key]) for key in first)


@torch.no_grad()
def two_pairs_act_at_once(name: str, options: Options) -> None:
    """Beside FIRE on ids of its own, each pair acts on its ids: FIRE always, the other if it does so alone."""
    alone, both, (tokens, ids) = build(name, options), build(name, options, also=("fire",)), sample(8)
    before = both(tokens, [ids, ids])
    assert before.isfinite().all()
    assert not torch.allclose(before, both(tokens, [ids, 5 * ids]), atol=1e-5), "FIRE should act"
    acts = not torch.allclose(alone(tokens, [ids]), alone(tokens, [5 * ids]), atol=1e-5)
    still = not torch.allclose(before, both(tokens, [5 * ids, ids]), atol=1e-5)
    assert still == acts, f"beside FIRE it acts: {still}, alone: {acts}"


@torch.no_grad()
def relative_encodings_see_differences_only(name: str, options: Options) -> None:
    model, (tokens, ids) = build(name, options), sample(12)
    unmoved = torch.allclose(model(tokens, [ids]), model(tokens, [ids + 900]), atol=1e-4)
    assert unmoved == ENCODINGS[name].load().relative, f"`relative` should be {unmoved}"


@torch.no_grad()
def equal_and_unordered_ids_are_accepted(name: str, options: Options) -> None:
    model, (tokens, _) = build(name, options), sample(10)
    ids = torch.tensor([[0, 3, 2, 1, 4, 3, 2, 1, 4, 3]])
    assert model(tokens, [ids]).isfinite().all()


def every_attention_option_keeps_the_contracts(name: str, options: Options) -> None:
    for chosen in ATTENTION:
        model, (tokens, ids) = build(name, options, **chosen), sample(10)
        with torch.no_grad():
            full = model(tokens, [ids], prompt=PROMPT)
            torch.testing.assert_close(_in_pieces(model, tokens, ids, PROMPT), full, atol=1e-4, rtol=1e-4)
            late = model(tokens, [ids], first=6, prompt=PROMPT)
            torch.testing.assert_close(late, full[:, 6:], atol=1e-4, rtol=1e-4)
            changed = model(_with_other_end(tokens), [ids], prompt=PROMPT)
            torch.testing.assert_close(changed[:, :7], full[:, :7], atol=1e-4, rtol=1e-4)
        model.train()
        model(tokens, [ids], prompt=PROMPT).square().sum().backward()
        assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters()), f"{chosen}"


OF_ENCODINGS: list[Contract] = [
    no_token_sees_a_later_one,
    cached_decoding_equals_the_full_pass,
    leaving_out_early_queries_changes_nothing,
    ids_shared_by_the_batch_equal_ids_for_each_row,
    long_inputs_are_finite,
    gradients_reach_every_parameter,
    weights_depend_on_their_seed_alone,
    two_pairs_act_at_once,
    relative_encodings_see_differences_only,
    equal_and_unordered_ids_are_accepted,
    every_attention_option_keeps_the_contracts,
]
