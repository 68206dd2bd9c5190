"""Packed rows give the loss and the gradients of the same examples in dense batches."""

from collections.abc import Callable

import pytest
import torch

from lengthlab.batches import Batch, Pipeline
from lengthlab.config import Config
from lengthlab.encodings import ENCODINGS
from lengthlab.formats.vocabulary import PAD
from lengthlab.model.build import build_model
from lengthlab.model.transformer import Transformer
from lengthlab.positions import POSITIONS
from lengthlab.training.packing import pack, packed_loss
from lengthlab.training.step import answer_loss

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
