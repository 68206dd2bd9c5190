"""One step: what is computed in parts is what would be computed at once."""

from collections.abc import Callable

import pytest
import torch

from lengthlab.batches import Batch, Pipeline
from lengthlab.config.schema import Config
from lengthlab.model.transformer import Transformer
from lengthlab.training import step as module
from lengthlab.training.step import Engine, answer_loss

pytestmark = pytest.mark.numeric


def count_passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The examples of each pass from now on."""
    passes: list[int] = []

    def counted(model: Transformer, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        passes.append(len(batch.tokens))
        return answer_loss(model, batch)

    monkeypatch.setattr(module, "answer_loss", counted)
    return passes


@pytest.mark.parametrize("encoding", ["fire", "none", "shaw"])
def test_a_batch_in_parts_gives_the_same_gradients(
    encoding: str, smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    def summed(tokens_at_once: int) -> tuple[float, torch.Tensor, int]:
        monkeypatch.setattr(module, "TOKENS_AT_ONCE", tokens_at_once)
        engine = Engine(smoke(f"encoding={encoding}", "training.accumulate=2"))
        passes = count_passes(monkeypatch)
        loss = engine.backward(engine.drawn[0], counted=1)[0]
        return loss, torch.cat([p.grad.flatten() for p in engine.model.parameters() if p.grad is not None]), len(passes)

    (loss, gradient, one), (split_loss, split_gradient, several) = summed(2**13), summed(32)
    assert one == 2 and several > 4
    assert split_loss == pytest.approx(loss, rel=1e-6)
    # Not the weights after the step: where a gradient is near 0, AdamW's first step makes much of its rounding.
    assert (split_gradient - gradient).norm() < 1e-6 * gradient.norm()


def test_dropout_keeps_a_batch_whole(smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TOKENS_AT_ONCE", 1)
    passes = count_passes(monkeypatch)
    Engine(smoke("model.dropout=0.1")).step(0)
    assert passes == [8]


def test_accumulated_batches_make_one_step_of_all_their_tokens(smoke: Callable[..., Config]) -> None:
    pipeline = Pipeline(smoke("training.accumulate=3", "training.growth=0"))
    batches = pipeline.training_batches(0, 3)
    assert [len(batch.tokens) for batch in batches] == [8, 8, 8]
    metrics = Engine(smoke("training.accumulate=3", "training.growth=0")).step(0)
    assert metrics["examples"] == 24 and metrics["tokens"] == sum(batch.tokens.numel() for batch in batches)
