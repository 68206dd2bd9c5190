"""The halves of a block as one function each, against torch; and every kernel as other processors run it."""

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

from lengthlab.model import biased, halves
from lengthlab.model.between import geglu, rms_norm
from lengthlab.model.biased import biased_attention
from lengthlab.model.halves import can_be_one, first_half, second_half, suits
from lengthlab.model.kernels.library import NUMBERS, compiler, library
from lengthlab.optimizers import orthogonalise as newton_schulz

pytestmark = [
    pytest.mark.skipif(compiler() is None, reason="no C++ compiler here"),
    pytest.mark.xdist_group("kernels"),  # or each worker compiles every kernel
]
CLOSE = {torch.float32: 1e-6, torch.bfloat16: 1e-2}  # error as a share of the norm
SAME = {torch.float32: 1e-6, torch.bfloat16: 1e-3}  # the same sums in another order; bf16 may be rounded either way
Half = Callable[..., Sequence[Tensor]]


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def first(kind: torch.dtype, x: Tensor, gain: Tensor, *weights: Tensor) -> Sequence[Tensor]:
    with torch.autocast("cpu", torch.bfloat16, enabled=kind is torch.bfloat16):
        made = first_half(x, gain, weights)
    assert {one.dtype for one in made} == {kind}
    return made


def first_in_torch(kind: torch.dtype, x: Tensor, gain: Tensor, *weights: Tensor) -> Sequence[Tensor]:
    return [rms_norm(x, gain) @ weight.mT for weight in weights]


def second(kind: torch.dtype, attended: Tensor, x: Tensor, *parameters: Tensor) -> Sequence[Tensor]:
    return [second_half(attended.to(kind), x, parameters[:3], *parameters[3:])]


def second_in_torch(kind: torch.dtype, attended: Tensor, x: Tensor, *parameters: Tensor) -> Sequence[Tensor]:
    after, before, last, out, gate, up, down = parameters
    x = x + rms_norm(attended @ out.mT, after)
    normed = rms_norm(x, before)
    return [x + rms_norm(geglu(normed @ gate.mT, normed @ up.mT) @ down.mT, last)]


def computed(half: Half, kind: torch.dtype, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Values and all gradients."""
    leaves = [tensor.detach().requires_grad_() for tensor in inputs]
    made = half(kind, *leaves)
    slopes = [random(*one.shape, seed=9 + index).to(one.dtype) for index, one in enumerate(made)]
    return [*made, *torch.autograd.grad(made, leaves, slopes)]


def weights(*shapes: tuple[int, int]) -> list[Tensor]:
    return [random(*shape, seed=3 + index) * shape[1] ** -0.5 for index, shape in enumerate(shapes)]


def inputs_of(half: Half, tokens: int, width: int, hidden: int, parts: int = 3) -> list[Tensor]:
    x = random(2, tokens + 3, width)[:, 3:]  # not contiguous, as in the last block
    gains = [1 + 0.3 * random(width, seed=seed) for seed in range(3)]
    if half is first:
        return [x, gains[0], *weights(*[(width, width)] * parts)]
    shapes = ((width, width), (hidden, width), (hidden, width), (width, hidden))
    return [random(2, tokens, width, seed=2), x, *gains, *weights(*shapes)]


def compare(half: Half, kind: torch.dtype, inputs: list[Tensor], exactly: Half) -> None:
    exact = computed(exactly, torch.float64, [tensor.double() for tensor in inputs])
    for one, wanted in zip(computed(half, kind, inputs), exact, strict=True):
        assert (one.double() - wanted).norm() < CLOSE[kind] * wanted.norm()


@pytest.mark.parametrize("kind", list(CLOSE))
@pytest.mark.parametrize(("width", "hidden"), [(16, 32), (48, 80), (128, 256)])
@pytest.mark.parametrize("tokens", [1, 24, 61])  # twice as many rows, of which the kernels take 48 at a time
def test_halves_with_all_their_gradients(kind: torch.dtype, width: int, hidden: int, tokens: int) -> None:
    compare(first, kind, inputs_of(first, tokens, width, hidden), first_in_torch)
    compare(second, kind, inputs_of(second, tokens, width, hidden), second_in_torch)


@pytest.mark.parametrize("parts", [1, 2])
def test_the_first_half_makes_as_many_as_it_is_asked_for(parts: int) -> None:
    compare(first, torch.float32, inputs_of(first, 30, 32, 0, parts), first_in_torch)


@pytest.mark.parametrize("kind", list(CLOSE))
def test_several_threads_compute_the_same(kind: torch.dtype) -> None:
    cases: list[tuple[Half, list[Tensor]]] = [
        (first, inputs_of(first, 61, 32, 0)),
        (second, inputs_of(second, 61, 32, 48)),
    ]
    matrices = random(3, 48, 80)
    in_one = [*(computed(case, kind, inputs) for case, inputs in cases), updates(kind, matrices)]
    torch.set_num_threads(2)
    try:
        in_two = [*(computed(case, kind, inputs) for case, inputs in cases), updates(kind, matrices)]
    finally:
        torch.set_num_threads(1)
    for one, two in zip(in_one, in_two, strict=True):
        for wanted, found in zip(one, two, strict=True):
            assert (wanted.double() - found.double()).norm() < SAME[kind] * wanted.norm()


def test_few_tokens_are_left_to_torch_when_nothing_is_learned() -> None:
    assert can_be_one(torch.zeros(1, 2, 32), 64)
    with torch.no_grad():
        assert not can_be_one(torch.zeros(1, 2, 32), 64) and can_be_one(torch.zeros(2, 30, 32), 64)


def test_what_fits() -> None:
    assert can_be_one(torch.zeros(1, 2, 32), 64)
    assert not can_be_one(torch.zeros(1, 2, 24), 64) and not can_be_one(torch.zeros(1, 2, 32), 24)
    assert not can_be_one(torch.zeros(1, 2, 32, dtype=torch.float64), 64)
    assert suits(512, 2048) and not suits(1024, 4096)


def attention(kind: torch.dtype, q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Sequence[Tensor]:
    return [biased_attention(q.to(kind), k.to(kind), v.to(kind), bias, 0.3)]


def updates(kind: torch.dtype, matrices: Tensor) -> list[Tensor]:
    return [newton_schulz.orthogonalise(matrices, steps=2, precision=kind)]


@pytest.mark.parametrize(
    ("flag", "kind"),
    [("-mno-avx512bf16", torch.bfloat16), ("-mno-avx512f", torch.bfloat16), ("-mno-avx512f", torch.float32)],
)
def test_other_processors_compute_the_same(flag: str, kind: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without bf16 arithmetic, and without vectors of 512 bits, numbers differ by the order of sums only."""
    if library("halves", f"-DNUMBER={NUMBERS[kind]}", flag) is None:
        pytest.skip(f"this compiler does not know {flag}")
    qkv = [random(3, 2, 37, 32, seed=seed) for seed in range(3)]
    cases: list[tuple[Half, list[Tensor]]] = [
        (first, inputs_of(first, 61, 32, 0)),
        (second, inputs_of(second, 61, 32, 48)),
        (attention, [*qkv, random(1, 2, 37, 37, seed=3)]),
    ]
    matrices = random(3, 48, 80)
    here = [*(computed(case, kind, inputs) for case, inputs in cases), updates(kind, matrices)]
    for module in (halves, biased, newton_schulz):
        monkeypatch.setattr(module, "library", lambda name, *definitions: library(name, *definitions, flag))
    there = [*(computed(case, kind, inputs) for case, inputs in cases), updates(kind, matrices)]
    for found, wanted in zip(here, there, strict=True):
        for one, other in zip(found, wanted, strict=True):
            assert (one.double() - other.double()).norm() < SAME[kind] * one.norm()
