"""Verify-then-decode gives, token for token, what the textbook loop gives."""

from collections.abc import Callable

import pytest
import torch

from lengthlab.batches import Batch, Pipeline
from lengthlab.config.load import load_config
from lengthlab.config.schema import Config
from lengthlab.encodings import ENCODINGS
from lengthlab.evaluation import answers as module
from lengthlab.evaluation.answers import Strays, answers, answers_together, decode, is_correct
from lengthlab.formats.vocabulary import END, PAD
from lengthlab.model.build import build_model
from lengthlab.model.cache import Cache
from lengthlab.model.transformer import Transformer
from lengthlab.positions import POSITIONS
from lengthlab.training.step import Engine

EVERY_ENCODING_AND_SCHEME = [
    *((encoding, "sequential") for encoding in ENCODINGS.names()),
    *(("fire", scheme) for scheme in POSITIONS.names() if scheme != "sequential"),
]


def textbook(model: Transformer, batch: Batch) -> list[list[int]]:
    """No cache, the whole sequence again for each token; PAD after the end of a row."""
    tokens, produced = batch.tokens[:, : batch.answer], []
    ended = torch.zeros(len(tokens), dtype=torch.bool)
    for _ in range(batch.targets.shape[1]):
        chosen = model(tokens, batch.positions, prompt=batch.answer)[:, -1].argmax(-1)
        produced.append(torch.where(ended, PAD, chosen))
        ended |= chosen == END
        tokens = torch.cat([tokens, chosen[:, None]], dim=1)
    return torch.stack(produced, dim=1).tolist()


@torch.no_grad()
def compare(model: Transformer, pipeline: Pipeline, digits: int, examples: int) -> list[int]:
    """Check all ways to an answer against the textbook; returns how many tokens of the truth each row followed."""
    followed = []
    for _, batch in pipeline.test_batches(digits, examples):
        verified, cached, judged = answers(model, batch).produced, decode(model, batch), is_correct(model, batch)
        for row, greedy in enumerate(textbook(model, batch)):
            truth = batch.targets[row].tolist()
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
        "training.steps=50",
        "training.batch=32",
        "training.growth=0",
        "model.width=64",
        "training.schedule.warmup=10",
        "training.precision=fp32",
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
@pytest.mark.parametrize("scheme", POSITIONS.names())
def test_rows_of_several_batches_are_decoded_together(
    scheme: str, smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of test problems have ids of their own; one batch is longer; where memory is short they wait less long."""
    config = smoke("model.layers=2", "encoding=fire", f"positions={scheme}")
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary)).eval()
    batches = [batch for digits in (2, 3) for _, batch in pipeline.test_batches(digits, 36)]
    assert len(batches) == 6
    alone = [answers(model, batch) for batch in batches]
    wrong = [(one.produced != batch.targets).any(1) for one, batch in zip(alone, batches, strict=True)]
    assert torch.cat(wrong).sum() > 60
    decoded: list[int] = []
    original = module.decode_rest

    def counting(model: Transformer, strays: Strays) -> torch.Tensor:
        decoded.append(len(strays.tokens))
        return original(model, strays)

    monkeypatch.setattr(module, "decode_rest", counting)
    for room, times in ((2**25, 2), (2**13, 6)):
        monkeypatch.setattr(module, "NUMBERS_AT_ONCE", room)
        decoded.clear()
        for one, other in zip(alone, answers_together(model, batches), strict=True):
            assert torch.equal(one.produced, other.produced) and torch.equal(one.forced, other.forced)
        assert len(decoded) >= times and (room < 2**25 or len(decoded) == times)


@torch.no_grad()
def test_a_lead_too_small_to_trust_is_decoded(smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch) -> None:
    """With an output matrix of zeros all logits are equal: every row is a tie from its first token on."""
    decoded: list[list[int]] = []
    original = module.decode_rest

    def noting(model: Transformer, strays: Strays) -> torch.Tensor:
        decoded.append(strays.followed.tolist())
        return original(model, strays)

    monkeypatch.setattr(module, "decode_rest", noting)
    config = smoke()
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary)).eval()
    model.output.weight.zero_()
    for _, batch in pipeline.test_batches(2, 4):
        batch.tokens[:, batch.answer :] = 0  # the truth is what a tie gives: the lowest token
        assert torch.equal(answers(model, batch).produced, batch.targets)
    assert decoded == [[0, 0, 0, 0]]


@torch.no_grad()
@pytest.mark.parametrize(
    "overrides", [["encoding=fire"], ["encoding=cope"], ["positions.per=sequence"], ["encoding=rope"]]
)
def test_long_rows_read_in_parts_give_the_same_logits(
    overrides: list[str], smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = smoke("model.layers=2", "evaluation.digits=8", *overrides)
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary)).eval()
    (_, batch), *_ = pipeline.test_batches(8, 3)
    whole = module.read(model, batch, Cache())
    assert module.columns_at_once(model, batch.inputs.shape[1]) == batch.inputs.shape[1] > 48
    monkeypatch.setattr(module, "BIAS_AT_ONCE", 1)  # parts of 16 tokens
    room = Cache(batch.inputs.shape[1])
    torch.testing.assert_close(module.read(model, batch, room), whole, atol=1e-5, rtol=1e-5)
    assert room.length == batch.inputs.shape[1]
