"""Packed rows give the loss and the gradients of the same examples in dense batches."""

from collections.abc import Callable

import pytest
import torch

from lengthlab.batches import Batch, Pipeline
from lengthlab.config.schema import Config
from lengthlab.encodings import ENCODINGS
from lengthlab.formats.vocabulary import PAD
from lengthlab.model.build import build_model
from lengthlab.model.transformer import Transformer
from lengthlab.positions import POSITIONS
from lengthlab.training.packing import pack, packed_loss
from lengthlab.training.step import Ahead, Engine, answer_loss

OTHERS = [
    ["model.mask=prefix"],
    ["model.attention=stick-breaking"],
    ["model.log_scaling=fixed"],
    ["model.log_scaling=learned"],
    ["model.loops=2", "model.injection=true"],
    ["format.padding=none"],
    ["format.spaces.probability=0.3"],
    ["positions.per=sequence"],
]


def gradients(model: Transformer, loss: torch.Tensor) -> dict[str, torch.Tensor]:
    model.zero_grad()
    loss.backward()
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def compare(config: Config) -> None:
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary)).double()
    batches = pipeline.training_batches(0, 3)
    packed = pack(batches, 64)
    assert len(packed.tokens) > 1 and (packed.documents.number.max(dim=1).values > 0).all()  # several to a row
    dense = [answer_loss(model, batch) for batch in batches]
    loss, right = packed_loss(model, packed)
    expected = torch.stack([part for part, _ in dense]).sum()
    torch.testing.assert_close(loss, expected)
    assert right == sum(int(part) for _, part in dense)
    wanted, found = gradients(model, expected), gradients(model, loss)
    assert wanted.keys() == found.keys()
    for name in wanted:
        torch.testing.assert_close(found[name], wanted[name], msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize("encoding", ENCODINGS.names())
@pytest.mark.parametrize("positions", POSITIONS.names())
def test_every_encoding_and_scheme(encoding: str, positions: str, smoke: Callable[..., Config]) -> None:
    compare(smoke(f"encoding={encoding}", f"positions={positions}", "model.layers=2", "training.accumulate=3"))


@pytest.mark.parametrize("overrides", OTHERS, ids=str)
def test_other_models_and_formats(overrides: list[str], smoke: Callable[..., Config]) -> None:
    compare(smoke("model.layers=2", "training.accumulate=3", *overrides))


@torch.no_grad()
@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")  # compiling takes longer than this
@pytest.mark.parametrize("encoding", ["none", "rope", "learned"])
@pytest.mark.parametrize("mask", ["causal", "prefix"])
def test_flex_attention_gives_the_same(encoding: str, mask: str, smoke: Callable[..., Config]) -> None:
    """Forward only: on a CPU it does not train."""
    config = smoke(f"encoding={encoding}", "positions=sequential", f"model.mask={mask}", "training.accumulate=3")
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary))
    packed = pack(pipeline.training_batches(0, 3), 128)
    assert model.flexes
    with_blocks = packed_loss(model, packed)[0]
    model.flexes = False
    torch.testing.assert_close(with_blocks, packed_loss(model, packed)[0])


def test_no_example_is_lost_and_each_starts_again(smoke: Callable[..., Config]) -> None:
    pipeline = Pipeline(smoke("positions=sequential", "training.accumulate=4"))
    batches = pipeline.training_batches(0, 3)
    packed = pack(batches, 64)
    examples = [row for batch in batches for row in batch.inputs.tolist()]
    for number, example in enumerate(examples):
        mine = packed.documents.number == number
        assert packed.tokens[mine].tolist() == example
        assert packed.positions[0][mine].tolist() == packed.documents.index[mine].tolist() == list(range(len(example)))
    counted = sum(int((batch.targets != PAD).sum()) for batch in batches)
    assert int((packed.targets != PAD).sum()) == counted
    assert packed.rows(0, 1).tokens.shape == (1, 64)


def test_an_example_longer_than_a_row_is_refused(smoke: Callable[..., Config]) -> None:
    batch: Batch = Pipeline(smoke()).samples(3, 2)[1]
    with pytest.raises(ValueError, match="rows of 8 tokens cannot hold"):
        pack([batch], 8)


@pytest.mark.numeric
def test_training_on_packed_rows_ends_with_the_same_weights(smoke: Callable[..., Config]) -> None:
    def trained(rows: str) -> dict[str, torch.Tensor]:
        engine = Engine(smoke("training.pack=64", "training.batch=4", f"training.rows={rows}"))
        engine.model.double()
        start = engine.model.output.weight.detach().clone()
        for step in range(4):
            engine.step(step)
        assert not torch.equal(start, engine.model.output.weight)
        return engine.model.state_dict()

    dense, packed = trained("dense"), trained("packed")
    for name, weights in dense.items():
        torch.testing.assert_close(packed[name], weights, msg=lambda text, name=name: f"{name}: {text}")


def test_drawing_ahead_changes_nothing() -> None:
    drawn: list[int] = []

    def draw(step: int) -> int:
        drawn.append(step)
        return step * step

    ahead = Ahead(draw, enabled=True)
    assert [ahead[step] for step in (0, 1, 2, 7, 8)] == [0, 1, 4, 49, 64]
    assert ahead.executor is not None
    ahead.executor.shutdown()
    assert sorted(drawn) == [0, 1, 2, 3, 7, 8, 9]  # each once; 3 and 9 were drawn for steps that did not come
    assert Ahead(draw, enabled=False)[5] == 25
