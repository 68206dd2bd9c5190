"""The plain model.py against the package's own model: the same logits for everything registered."""

from collections.abc import Callable
from typing import Literal, get_args

import pytest
import torch

from lengthlab.batches import Pipeline
from lengthlab.config.schema import Config
from lengthlab.encodings import ENCODINGS
from lengthlab.encodings.options import RopeOptions
from lengthlab.encodings.rope import frequencies
from lengthlab.export import standalone
from lengthlab.formats.vocabulary import END
from lengthlab.model.build import build_model
from lengthlab.model.transformer import Transformer
from lengthlab.positions.places import CoupledOptions

SYMBOLS = get_args(CoupledOptions.model_fields["symbols"].annotation)
Smoke = Callable[..., Config]
SETTINGS = [
    *[(f"encoding={kind}",) for kind in ENCODINGS.names()],
    *[(f"encoding={kind}", "encoding.shared=false") for kind in ("fire", "t5", "kerple-log", "rope")],
    *[(f"encoding={{kind: rope, scaling: {way}, factor: 4}}",) for way in ("linear", "ntk", "yarn")],
    ("encoding={kind: rope, share: 0.5}",),
    ("encoding={kind: shaw, values: true, reach: 2}",),
    ("model.mask=prefix", "encoding=fire"),
    ("model.tied=true", "model.logit_factor=1.5"),
    ("model.log_scaling=fixed",),
    ("model.log_scaling=learned", "encoding=clipped"),
    ("model.attention=stick-breaking",),
    ("model.loops=3", "model.injection=true", "encoding=clipped", "positions=coupled"),
    ("also=[{positions: digit-place, encoding: learned}]", "encoding=fire"),
    ("also=[{positions: sequential, encoding: clipped}]", "positions=randomized", "encoding=fire"),
    ("model.logit_factor_at_test=2.0", "positions={kind: coupled, symbols: after}", "encoding=clipped"),
]


def build(config: Config) -> tuple[Transformer, Pipeline, standalone.Model]:
    """The model of a config with weights that are all at work, and its plain twin."""
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary)).eval()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():  # some start at zero, where a mistake would not show
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
    weights = {name: parameter.detach() for name, parameter in model.named_parameters()}
    plain = standalone.Model(config.model_dump(mode="json"), pipeline.format.vocabulary.texts, weights)
    return model, pipeline, plain


@pytest.mark.parametrize("settings", SETTINGS, ids=" ".join)
@torch.no_grad()
def test_same_logits(smoke: Smoke, settings: tuple[str, ...]) -> None:
    model, pipeline, plain = build(smoke("model.layers=2", *settings))
    for _, batch in pipeline.test_batches(7, 3):
        ids = [positions[:, : batch.inputs.shape[1]] for positions in batch.positions]
        expected = model(batch.inputs, ids, prompt=batch.answer)
        torch.testing.assert_close(plain(batch.inputs, *ids), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("scaling", ["none", "linear", "ntk", "yarn"])
def test_angles_are_as_exact_for_large_ids(scaling: Literal["none", "linear", "ntk", "yarn"]) -> None:
    """In float32 the angle of id 5,000 would be off by 1e-4 and more."""
    options = RopeOptions(kind="rope", scaling=scaling, factor=1 if scaling == "none" else 4)
    assert torch.equal(standalone.rope_frequencies(options.model_dump(), 16), frequencies(options, 16))


@pytest.mark.parametrize("order", ["reversed", "standard", "answer-reversed"])
@pytest.mark.parametrize("hints", [0, 20])
@pytest.mark.parametrize(
    "positions",
    ["sequential", "offset", "digit-place", *(f"{{kind: coupled, symbols: {symbols}}}" for symbols in SYMBOLS)],
)
def test_writes_questions_as_the_pipeline_does(smoke: Smoke, order: str, hints: int, positions: str) -> None:
    hinted = ["format.hints_at_test=first"] if hints else []
    config = smoke(f"format.order={order}", f"format.hints={hints}", f"positions={positions}", "encoding=none", *hinted)
    _, pipeline, plain = build(config)
    from lengthlab.evaluation.ask import written_question

    batch = written_question(pipeline, "9075+312")
    tokens, ids, places = plain.question("9075", "312")
    assert tokens == batch.tokens[0, : batch.answer].tolist()
    assert ids == [positions[0].tolist() for positions in batch.positions]
    in_answer = batch.layout.place[0, batch.answer :].tolist()
    assert list(dict.fromkeys(place for place in in_answer if place >= 0)) == places


def test_adds_as_greedy_decoding_does(smoke: Smoke) -> None:
    """With weights that know nothing too, what is written is the likeliest token each time."""
    from lengthlab.evaluation.answers import decode
    from lengthlab.evaluation.ask import written_question

    config = smoke("format.hints=0", "positions=coupled", "encoding=clipped")
    model, pipeline, plain = build(config)
    for a, b in (("12", "34"), ("999", "1"), ("0", "0")):
        produced = decode(model, written_question(pipeline, f"{a}+{b}"))[0].tolist()
        texts = [pipeline.format.vocabulary.texts[token] for token in produced]
        written = texts[: produced.index(END) + 1] if END in produced else texts
        wanted = [*written, *"?" * len(texts)][: len(texts) - 1]  # one token less than with the end
        assert plain.add(a, b) == ("".join(reversed(wanted)).lstrip("0") or "0")
