"""The model's sizes, shapes and options."""

import math
from collections.abc import Callable

import pytest
import torch

from lengthlab.config.load import validate
from lengthlab.config.model import SIZES
from lengthlab.config.schema import Config
from lengthlab.model.build import build_model
from lengthlab.training.step import Engine

PAPER_VOCABULARY = 10 + 4 + 2 + 102  # digits, marks, symbols, hints


@pytest.mark.parametrize(("size", "millions"), [("2M", 2.16), ("5M", 4.26), ("25M", 25.3), ("268M", 268.7)])
def test_the_paper_s_sizes(size: str, millions: float) -> None:
    with torch.device("meta"):
        model = build_model(validate({"model": size, "encoding": "fire"}), PAPER_VOCABULARY)
    count = sum(parameter.numel() for parameter in model.parameters())
    assert count / 1e6 == pytest.approx(millions, rel=0.005)
    layers, width, hidden = (SIZES[size][key] for key in ("layers", "width", "feedforward"))
    blocks = layers * (4 * width**2 + 3 * width * hidden + 4 * width)  # attention, GeGLU's three matrices, four norms
    outside = 2 * PAPER_VOCABULARY * width + width  # embedding, output, last norm
    assert count == blocks + outside + sum(p.numel() for p in model.encodings.parameters())


def test_no_matrix_has_a_bias_and_embeddings_start_at_unit_scale() -> None:
    model = build_model(validate({"model": "mini"}), 118)
    assert not [name for name, _ in model.named_parameters() if name.endswith("bias")]
    assert model.embedding.weight.std().item() == pytest.approx(1.0, abs=0.05)


def test_tied_output_shares_the_embedding_and_keeps_the_logits_small() -> None:
    model = build_model(validate({"model": {"size": "mini", "tied": True}}), 118).eval()
    assert model.output.weight is model.embedding.weight
    logits = model(torch.randint(118, (4, 20)), [torch.arange(20)[None]])
    assert logits.std().item() < 3


def test_first_loss_is_near_that_of_guessing() -> None:
    model = build_model(validate({"model": "mini"}), 118).eval()
    tokens = torch.randint(118, (8, 30), generator=torch.Generator().manual_seed(0))
    logits = model(tokens[:, :-1], [torch.arange(30)[None]])
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    assert abs(loss.item() - math.log(118)) < 1


@torch.no_grad()
def test_logit_factor_at_test_acts_at_test_only() -> None:
    tokens, ids = torch.randint(118, (2, 9)), torch.arange(9)[None]
    plain = build_model(validate({"model": "tiny"}), 118)
    sharp = build_model(validate({"model": {"size": "tiny", "logit_factor_at_test": 4.0}}), 118)
    assert torch.equal(plain.train()(tokens, [ids]), sharp.train()(tokens, [ids]))
    assert not torch.allclose(plain.eval()(tokens, [ids]), sharp.eval()(tokens, [ids]))


def test_dropout_acts_in_training_only() -> None:
    model = build_model(validate({"model": {"size": "tiny", "dropout": 0.5}}), 118)
    tokens, ids = torch.randint(118, (2, 9)), torch.arange(9)[None]
    assert not torch.equal(model.train()(tokens, [ids]), model(tokens, [ids]))
    assert torch.equal(model.eval()(tokens, [ids]), model(tokens, [ids]))


@pytest.mark.parametrize("training", [True, False])
def test_hooks_see_all_that_goes_through_a_block(training: bool, smoke: Callable[..., Config]) -> None:
    """People look into models with hooks; what saves time elsewhere must not pass them by."""
    engine = Engine(smoke("encoding=fire", "training.precision=fp32"))
    model, batch = engine.model.train(training), engine.pipeline.samples(3, 64)[1]
    assert batch.inputs.numel() > 4 * len(model.embedding.weight), "enough for the first block to be looked up"
    logits = model(batch.inputs, batch.positions)
    heard: dict[str, torch.Size] = {}
    for name, module in model.blocks.named_modules():
        if isinstance(module, torch.nn.Linear) and ".encodings." not in name:
            module.register_forward_hook(lambda _, __, made, name=name: heard.update({name: made.shape}))
    torch.testing.assert_close(model(batch.inputs, batch.positions), logits, rtol=1e-4, atol=1e-4)
    assert len(heard) == 7 * len(model.blocks)
    assert {shape[:2] for shape in heard.values()} == {batch.inputs.shape}


# In bf16 a compiled chain rounds once at its end, where torch rounds after each function.
@pytest.mark.slow
@pytest.mark.xdist_group("compiler")
@pytest.mark.parametrize(("precision", "tolerance"), [("fp32", 1e-4), ("bf16", 5e-3)])
def test_compile_can_be_forced_changes_nothing_and_serves_all_lengths_at_once(
    precision: str, tolerance: float, smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LENGTHLAB_BF16", "yes")  # without bf16 arithmetic nothing is compiled in bf16
    overrides = (f"training.precision={precision}", "training.growth=0")
    eager, compiled = (Engine(smoke(f"training.compile={choice}", *overrides)) for choice in ("off", "on"))
    assert compiled.hardware.compile and not eager.hardware.compile
    widths = set()
    for step in range(6):
        widths |= {batch.tokens.shape[1] for batch in compiled.pipeline.training_batches(step, 3)}
        assert compiled.step(step)["loss"] == pytest.approx(eager.step(step)["loss"], rel=tolerance)
    from torch._dynamo.utils import counters  # seconds to import, for everybody who collects tests

    graphs = counters["stats"]["unique_graphs"]
    assert graphs > 0
    for digits in (6, 9):  # longer ones need nothing new
        batch = compiled.pipeline.samples(digits, compiled.config.training.batch)[1]
        assert batch.tokens.shape[1] not in widths
        losses = [engine.train_on([batch], 6)["loss"] for engine in (compiled, eager)]
        assert losses[0] == pytest.approx(losses[1], rel=tolerance)
    assert counters["stats"]["unique_graphs"] == graphs
