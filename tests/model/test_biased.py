"""Biased attention, by the kernel and in pieces, against attention written out; and whole models with and without."""

import copy
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from lengthlab.batches import Pipeline
from lengthlab.config.schema import Config
from lengthlab.encodings import ENCODINGS
from lengthlab.model.attention import Attention
from lengthlab.model.biased import biased_attention
from lengthlab.model.build import build_model
from lengthlab.model.kernels import library as module
from lengthlab.model.kernels.library import compiler, library
from lengthlab.model.transformer import Transformer
from lengthlab.positions import POSITIONS
from lengthlab.training.packing import pack, packed_loss
from lengthlab.training.step import answer_loss

pytestmark = pytest.mark.xdist_group("kernels")  # or each worker compiles every kernel
CLOSE = 1e-6  # error as a share of the norm, in fp32


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """In pieces, as on a machine without a compiler, and then with the kernels: what both must give is computed once.

    Nothing may follow the loop over them: without a compiler it ends by skipping the test.
    """

    def both() -> Iterator[str]:
        monkeypatch.setenv("LENGTHLAB_KERNELS", "off")
        yield "pieces"
        if compiler() is None:
            pytest.skip("no C++ compiler here")
        monkeypatch.delenv("LENGTHLAB_KERNELS")
        yield "kernel"

    return both()


def distance(found: Tensor, wanted: Tensor) -> float:
    return ((found - wanted).norm() / wanted.norm()).item()


def written_out(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, scale: float) -> Tensor:
    return torch.softmax(scale * q @ k.mT + bias, -1) @ v


@pytest.mark.parametrize("head_width", [8, 16, 24, 32, 64])
@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (5, 5), (24, 24), (70, 70), (131, 131), (20, 77)])
@pytest.mark.parametrize("rows", ["one bias", "a bias for each", "one for all heads"])
def test_it_is_attention_with_all_its_gradients(
    head_width: int, queries: int, keys: int, rows: str, ways: Iterator[str]
) -> None:
    generator = torch.Generator().manual_seed(0)

    def random(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator)

    batch, heads = 3, 2
    joined = random(batch, keys, 3, heads, head_width)  # as a model has them: not contiguous
    q, k, v = (joined[:, :, part].transpose(1, 2) for part in range(3))
    q = q[:, :, keys - queries :]
    shape = {"one bias": (1, heads), "a bias for each": (batch, heads), "one for all heads": (1, 1)}[rows]
    reach = torch.arange(keys - queries + 1, keys + 1)
    hidden = torch.arange(keys) >= reach[:, None]
    inputs = [q, k, v, random(*shape, queries, keys)]
    out_gradient = random(batch, queries, heads, head_width).transpose(1, 2)

    def computed(attention: Callable[..., Tensor], kind: torch.dtype, **more: Tensor) -> list[Tensor]:
        leaves = [tensor.detach().to(kind).requires_grad_() for tensor in inputs]
        out = attention(*leaves[:3], leaves[3].masked_fill(hidden, float("-inf")), 0.3, **more)
        return [out, *torch.autograd.grad(out, leaves, out_gradient.to(kind))]

    wanted = computed(written_out, torch.float64)
    for way in ways:
        for found, exact in zip(computed(biased_attention, torch.float32, reach=reach), wanted, strict=True):
            if exact.norm() > 0:  # with a single key the weights have no gradient
                assert distance(found.double(), exact) < CLOSE, way
        for found, exact in zip(computed(biased_attention, torch.float64), wanted, strict=True):
            torch.testing.assert_close(found, exact)


def test_large_logits_neither_overflow_nor_vanish(ways: Iterator[str]) -> None:
    q = torch.tensor([[1e4], [-1e4]]).expand(1, 1, 2, 8)
    k, v = torch.ones(1, 1, 2, 8), torch.eye(8)[:2].view(1, 1, 2, 8)
    bias = torch.tensor([[0.0, float("-inf")], [-300.0, 0.0]])[None, None]
    for way in ways:
        assert torch.equal(biased_attention(q, k, v, bias), v), way


def test_several_threads_compute_the_same(ways: Iterator[str]) -> None:
    generator = torch.Generator().manual_seed(0)
    tensors = [torch.randn(4, 3, 40, 16, generator=generator) for _ in range(3)]
    bias = torch.randn(1, 3, 40, 40, generator=generator)

    def gradients() -> tuple[Tensor, ...]:
        q, k, v, added = leaves = [tensor.clone().requires_grad_() for tensor in (*tensors, bias)]
        return torch.autograd.grad(biased_attention(q, k, v, added).square().sum(), leaves)

    for _ in ways:
        alone = gradients()
        torch.set_num_threads(2)
        try:
            for found, wanted in zip(gradients(), alone, strict=True):
                torch.testing.assert_close(found, wanted)
        finally:
            torch.set_num_threads(1)


def gradient(model: Transformer, loss: Tensor) -> Tensor:
    model.zero_grad()
    loss.backward()
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])


def written_out_gradients(model: Transformer, losses: list[Callable[[], Tensor]]) -> list[Tensor]:
    """The gradients by the plain path, on which the model then stays."""
    model.looks_up = False
    for part in model.modules():
        if isinstance(part, Attention):
            part.plain = False  # write the weights out
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LENGTHLAB_KERNELS", "off")
        return [gradient(model, loss()) for loss in losses]


def compare(config: Config, ways: Iterator[str]) -> None:
    """The whole gradient of a model, in dense batches and packed rows, against the plain path in fp64.

    The plain path in fp32 is off by 6e-7 of the norm itself, more with sharp attention; ours may be half as much again.
    """
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary))
    for parameter in model.encodings.parameters():  # some start at zero, and would then show nothing
        torch.nn.init.normal_(parameter, std=0.3, generator=torch.Generator().manual_seed(1))
    other = copy.deepcopy(model)
    batches = pipeline.training_batches(0, 3)
    packed = pack(batches, 64)

    def losses(of: Transformer) -> list[Callable[[], Tensor]]:
        return [lambda: answer_loss(of, batches[0])[0], lambda: packed_loss(of, packed)[0]]

    plain = written_out_gradients(other, losses(other))
    exact = written_out_gradients(other.double(), losses(other))
    allowed = [max(CLOSE, 1.5 * distance(a.double(), b)) for a, b in zip(plain, exact, strict=True)]
    for way in ways:
        for loss, wanted, most in zip(losses(model), exact, allowed, strict=True):
            assert distance(gradient(model, loss()).double(), wanted) < most, way


@pytest.mark.parametrize("encoding", ENCODINGS.names())
@pytest.mark.parametrize("positions", POSITIONS.names())
def test_gradients_of_every_encoding_and_scheme(
    encoding: str, positions: str, smoke: Callable[..., Config], ways: Iterator[str]
) -> None:
    overrides = (f"encoding={encoding}", f"positions={positions}", "model.layers=2", "training.accumulate=2")
    compare(smoke(*overrides), ways)


@pytest.mark.parametrize(
    "overrides",
    [
        ["model.mask=prefix"],
        ["model.attention=stick-breaking"],
        ["model.log_scaling=fixed"],
        ["model.log_scaling=learned"],
        ["model.logit_factor=2"],
        ["model.loops=2", "model.injection=true"],
        ["format.padding=none"],
        ["positions.per=sequence"],
        ["encoding.shared=false"],
        ["model.width=40"],
    ],
    ids=str,
)
def test_gradients_of_other_models_and_formats(
    overrides: list[str], smoke: Callable[..., Config], ways: Iterator[str]
) -> None:
    compare(smoke("model.layers=2", "training.accumulate=2", *overrides), ways)


def test_without_a_compiler_or_a_folder_there_is_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LENGTHLAB_KERNELS", raising=False)
    monkeypatch.setattr(module, "OPTIONS", ("--no-such-option",))  # another name in the cache, and nothing to compile
    assert library("attention", "-DHEAD=8", "-DNEW") is None
    monkeypatch.setattr(module, "compiler", lambda: None)
    assert library("attention", "-DHEAD=32", "-DNEW") is None


@pytest.mark.skipif(compiler() is None, reason="no C++ compiler here")
def test_a_kernel_is_compiled_from_what_was_read_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that changes under a running program would no longer fit the program."""
    monkeypatch.setitem(module.SOURCES, "next.cpp", b'extern "C" long next(long n) { return n + 1; }')
    kernels = library("next")
    assert kernels is not None and kernels.next(41) == 42
