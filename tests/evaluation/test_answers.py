"""Verify-then-decode gives, token for token, what the textbook loop gives."""

from collections.abc import Callable

import pytest
import torch

from lengthlab.batches import Batch, Pipeline
from lengthlab.config import Config
from lengthlab.encodings import ENCODINGS
from lengthlab.evaluation import answers as module
from lengthlab.evaluation.answers import answers, is_correct
from lengthlab.evaluation.decode import decode
from lengthlab.formats.vocabulary import END, PAD
from lengthlab.model.attention import Cache
from lengthlab.model.build import build_model
from lengthlab.model.transformer import Transformer
from lengthlab.positions import POSITIONS
from lengthlab.recipes.load import load_config
from lengthlab.training.step import Engine

EVERY_ENCODING_AND_SCHEME = [
    *((encoding, "sequential") for encoding in ENCODINGS.names()),
    *(("fire", scheme) for scheme in POSITIONS.names() if scheme != "sequential"),
]


def textbook(model: Transformer, batch: Batch, row: int) -> list[int]:
    """One row, no cache, the whole sequence again for each token; PAD after the end."""
    tokens = batch.tokens[row : row + 1, : batch.answer]
    positions = [ids if len(ids) == 1 else ids[row : row + 1] for ids in batch.positions]
    wanted = batch.targets.shape[1]
    produced: list[int] = []
    while len(produced) < wanted and END not in produced:
        logits = model(tokens, positions, prompt=batch.answer)
        produced.append(int(logits[0, -1].argmax()))
        tokens = torch.cat([tokens, torch.tensor([[produced[-1]]])], dim=1)
    return produced + [PAD] * (wanted - len(produced))


@torch.no_grad()
def compare(model: Transformer, pipeline: Pipeline, digits: int, examples: int) -> list[int]:
    """Check all ways to an answer against the textbook; returns how many tokens of the truth each row followed."""
    followed = []
    for _, batch in pipeline.test_batches(digits, examples):
        verified, cached, judged = answers(model, batch).produced, decode(model, batch), is_correct(model, batch)
        for row in range(len(batch.tokens)):
            truth, greedy = batch.targets[row].tolist(), textbook(model, batch, row)
            assert verified[row].tolist() == greedy
            assert cached[row].tolist() == greedy
            assert bool(judged[row]) == (greedy == truth)
            same = [a == b for a, b in zip(greedy, truth, strict=True)]
            followed.append(len(same) if all(same) else same.index(False))
    return followed


@pytest.mark.parametrize("encoding", ENCODINGS.names())
@pytest.mark.parametrize("positions", POSITIONS.names())
def test_random_models(encoding: str, positions: str, smoke: Callable[..., Config]) -> None:
    config = smoke(f"encoding={encoding}", f"positions={positions}", "model.layers=2")
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary)).eval()
    assert len(compare(model, pipeline, 3, 6)) == 6


@pytest.mark.parametrize(("encoding", "positions"), EVERY_ENCODING_AND_SCHEME)
def test_trained_models(encoding: str, positions: str) -> None:
    """Trained until some answers are right, some leave the truth midway and some at once."""
    overrides = [
        f"encoding={encoding}",
        f"positions={positions}",
        "format.hints=0",
        "training.digits=1",
        "training.steps=60",
        "training.batch=64",
        "training.growth=0",
        "model.width=64",
        "training.schedule.warmup=10",
        "evaluation.digits=1",
    ]
    engine = Engine(load_config("smoke", overrides))
    for step in range(engine.config.training.steps):
        engine.step(step)
    model = engine.model.eval()
    followed = compare(model, engine.pipeline, 1, 40) + compare(model, engine.pipeline, 2, 8)
    assert len(set(followed)) > 1  # not all rows were decoded from the same token on


@pytest.mark.parametrize(
    "overrides",
    [
        ["model.mask=prefix"],
        ["model.loops=2", "model.injection=true"],
        ["model.attention=stick-breaking"],
        ["model.log_scaling=learned", "model.logit_factor_at_test=2"],
        ["format.padding=none"],
        ["format=scratchpad"],
        ["positions.per=sequence"],
    ],
    ids=str,
)
def test_other_models_and_formats(overrides: list[str], smoke: Callable[..., Config]) -> None:
    config = smoke("model.layers=2", *overrides)
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary)).eval()
    assert len(compare(model, pipeline, 2, 6)) == 6


@torch.no_grad()
def test_a_lead_too_small_to_trust_is_decoded(smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch) -> None:
    """With an output matrix of zeros all logits are equal: every row is a tie from its first token on."""
    decoded: list[list[int]] = []
    original = module._decode

    def noting(
        model: Transformer, batch: Batch, cache: Cache, rows: torch.Tensor, followed: torch.Tensor
    ) -> torch.Tensor:
        decoded.append(followed.tolist())
        return original(model, batch, cache, rows, followed)

    monkeypatch.setattr(module, "_decode", noting)
    config = smoke()
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary)).eval()
    model.output.weight.zero_()
    for _, batch in pipeline.test_batches(2, 4):
        batch.tokens[:, batch.answer :] = 0  # the truth is what a tie gives: the lowest token
        assert torch.equal(answers(model, batch).produced, batch.targets)
    assert decoded == [[0, 0, 0, 0]]
