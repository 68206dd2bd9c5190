"""One teacher-forced pass says exactly what step-by-step greedy decoding would."""

from collections.abc import Callable

import pytest
import torch

from lengthlab.batches import Pipeline
from lengthlab.config import Config
from lengthlab.encodings import ENCODINGS
from lengthlab.evaluation.decode import decode
from lengthlab.evaluation.exact_match import evaluate, is_correct
from lengthlab.formats.vocabulary import END, PAD
from lengthlab.model.build import build_model
from lengthlab.model.transformer import Transformer
from lengthlab.positions import POSITIONS
from lengthlab.recipes.load import load_config
from lengthlab.runs import Run
from lengthlab.training.loop import Trainer, Watcher


def naive_greedy(model: Transformer, prompt: torch.Tensor, positions: list[torch.Tensor], limit: int) -> list[int]:
    """The textbook loop: one row, no cache, the whole sequence again for each token."""
    tokens = prompt.clone()
    produced: list[int] = []
    while len(produced) < limit and (not produced or produced[-1] != END):
        produced.append(int(model(tokens, positions)[0, -1].argmax()))
        tokens = torch.cat([tokens, torch.tensor([[produced[-1]]])], dim=1)
    return produced


@pytest.fixture(scope="module")
def half_trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Transformer, Pipeline]:
    """A tiny model that adds one digit right most of the time: some answers are right and some are wrong."""
    overrides = [
        "training.digits=1",
        "training.steps=250",
        "training.batch=64",
        "format.hints=0",
        "model.width=64",
        "positions=sequential",
        "evaluation.digits=1",
        "training.schedule.warmup=10",
    ]
    config = load_config("smoke", overrides)
    trainer = Trainer(config, Run(tmp_path_factory.mktemp("runs") / "half"), Watcher())
    for step in range(config.training.steps):
        trainer.train_step(step)
    return trainer.model.eval(), trainer.pipeline


@torch.no_grad()
def test_a_trained_model_is_judged_as_greedy_decoding_judges_it(half_trained: tuple[Transformer, Pipeline]) -> None:
    model, pipeline = half_trained
    verdicts: list[bool] = []
    for digits in (1, 2):
        for _, batch in pipeline.test_batches(digits, 64):
            correct = is_correct(model, batch).tolist()
            answers = decode(model, batch)
            for row, verdict in enumerate(correct):
                truth = [t for t in batch.targets[row].tolist() if t != PAD]
                greedy = naive_greedy(
                    model, batch.tokens[row : row + 1, : batch.answer], list(batch.positions), batch.targets.shape[1]
                )
                assert verdict == (greedy == truth)
                assert [t for t in answers[row].tolist() if t != PAD] == greedy
            verdicts += correct
    assert 5 < sum(verdicts) < 123  # both kinds were there to be told apart


@pytest.mark.parametrize("encoding", ENCODINGS.names())
@pytest.mark.parametrize("positions", POSITIONS.names())
@torch.no_grad()
def test_cached_decoding_equals_the_textbook_loop(encoding: str, positions: str, smoke: Callable[..., Config]) -> None:
    config = smoke(f"encoding={encoding}", f"positions={positions}", "model.layers=2")
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary)).eval()
    for _, batch in pipeline.test_batches(3, 6):
        answers = decode(model, batch)
        for row in range(6):
            greedy = naive_greedy(
                model, batch.tokens[row : row + 1, : batch.answer], list(batch.positions), batch.targets.shape[1]
            )
            assert [t for t in answers[row].tolist() if t != PAD] == [t for t in greedy if t != PAD]


def test_the_first_test_problems_do_not_depend_on_how_many_follow(smoke: Callable[..., Config]) -> None:
    pipeline = Pipeline(smoke())
    few = torch.cat([batch.tokens for _, batch in pipeline.test_batches(3, 70)])
    many = torch.cat([batch.tokens for _, batch in pipeline.test_batches(3, 200)])
    assert torch.equal(few, many[:70])


def test_test_problems_are_not_the_training_problems(smoke: Callable[..., Config]) -> None:
    pipeline = Pipeline(smoke("training.batch=64"))
    test = {tuple(row) for _, batch in pipeline.test_batches(30, 64) for row in batch.tokens.tolist()}
    training = {
        tuple(row)
        for step in range(40)
        for batch in pipeline.training_batches(step, 30)
        for row in batch.tokens.tolist()
    }
    assert len(test) == 64 and not test & training


def test_splitting_for_memory_changes_no_verdict(smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch) -> None:
    config = smoke("format.hints=0", "training.digits=1")
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary)).eval()
    whole = evaluate(model, pipeline, [1, 2], 100)
    monkeypatch.setattr("lengthlab.evaluation.exact_match.LOGITS_AT_ONCE", 1)
    assert evaluate(model, pipeline, [1, 2], 100) == whole
