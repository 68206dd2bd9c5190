"""The plain model.py against the package's own model: the same logits for everything registered.

A new encoding is exported from its own file; ids that model.py does not make are refused.
"""

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import torch

from lengthlab.batches import Pipeline
from lengthlab.config.axes import ATTENTIONS
from lengthlab.config.plugins import load_plugins
from lengthlab.config.schema import Config
from lengthlab.encodings import ENCODINGS
from lengthlab.errors import UserError
from lengthlab.export.folder import standalone
from lengthlab.export.source import TEMPLATE, model_source
from lengthlab.formats.vocabulary import END
from lengthlab.model.build import build_model
from lengthlab.model.transformer import Transformer
from lengthlab.positions import POSITIONS
from lengthlab.positions.places import CoupledOptions

SYMBOLS = get_args(CoupledOptions.model_fields["symbols"].annotation)
Smoke = Callable[..., Config]
IDS = [*POSITIONS.names(), *(f"{{kind: coupled, symbols: {symbols}}}" for symbols in SYMBOLS)]
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
    *[(f"model.attention={kind}",) for kind in ATTENTIONS.names()],
    ("model.loops=3", "model.injection=true", "encoding=clipped", "positions=coupled"),
    ("also=[{positions: digit-place, encoding: learned}]", "encoding=fire"),
    ("also=[{positions: sequential, encoding: clipped}]", "positions=randomized", "encoding=fire"),
    ("encoding=none", f"also=[{', '.join(f'{{encoding: {kind}}}' for kind in ENCODINGS.names())}]"),
    ("model.logit_factor_at_test=2.0", "positions={kind: coupled, symbols: after}", "encoding=clipped"),
]


def build(config: Config) -> tuple[Transformer, Pipeline, Any]:
    """The model of a config with weights that are all at work, and its plain twin."""
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary)).eval()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():  # some start at zero, where a mistake would not show
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
    weights = {name: parameter.detach() for name, parameter in model.named_parameters()}
    written = standalone(model_source(config), "model.py")
    plain = written.Model(config.model_dump(mode="json"), pipeline.format.vocabulary.texts, weights)
    return model, pipeline, plain


@pytest.mark.parametrize("settings", SETTINGS, ids=" ".join)
@torch.no_grad()
def test_same_logits(smoke: Smoke, settings: tuple[str, ...]) -> None:
    model, pipeline, plain = build(smoke("model.layers=2", *settings))
    for _, batch in pipeline.test_batches(7, 3):
        ids = [positions[:, : batch.inputs.shape[1]] for positions in batch.positions]
        expected = model(batch.inputs, ids, prompt=batch.answer)
        torch.testing.assert_close(plain(batch.inputs, *ids), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("order", ["reversed", "standard", "answer-reversed"])
@pytest.mark.parametrize("hints", [0, 20])
@pytest.mark.parametrize("positions", IDS)
def test_writes_questions_as_the_pipeline_does(smoke: Smoke, order: str, hints: int, positions: str) -> None:
    hinted = ["format.hints_at_test=first"] if hints else []
    config = smoke(f"format.order={order}", f"format.hints={hints}", f"positions={positions}", "encoding=none", *hinted)
    _, pipeline, plain = build(config)
    from lengthlab.evaluation.ask import written_question

    batch = written_question(pipeline, "9075+312")
    try:
        tokens, ids, places = plain.question("9075", "312")
    except NotImplementedError as error:
        assert "ids are not made here; give tokens and ids" in str(error)
        return
    assert tokens == batch.tokens[0, : batch.answer].tolist()
    if "randomized" not in positions:  # which are drawn, and evenly spread here
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


MINE = """
import math as maths
import torch
{imports}
from torch import Tensor
from lengthlab.encodings import ENCODINGS, Clipped
from lengthlab.config.sections import EncodingOptions
from lengthlab.encodings.encoding import Encoding, Shape, distances

HALF: float = maths.sqrt(0.25)


class Mine(Clipped):
    def bias(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor:
        return super().bias(q, k, q_positions, k_positions) + halved(distances(q_positions, k_positions).abs()[:, None])


def halved(distance: Tensor, again: bool = True) -> Tensor:
    return halved(distance, False) if again else -HALF * {root}(distance.float())


ENCODINGS.add("mine", Mine, "bias: of a plugin")
"""


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """A plugin's encoding, with what it imports and calls; taken back afterwards."""

    def load(imports: str, root: str) -> Path:
        file = tmp_path / "mine.py"
        file.write_text(MINE.format(imports=imports, root=root))
        load_plugins([file])
        return file

    yield load
    ENCODINGS.remove("mine")


@torch.no_grad()
def test_a_plugin_s_encoding_is_exported_from_its_own_file(smoke: Smoke, mine: Callable[..., Path]) -> None:
    mine("import numpy", "torch.sqrt")  # which nothing in the class refers to
    model, pipeline, plain = build(smoke("encoding={kind: mine, reach: 2}"))
    for _, batch in pipeline.test_batches(7, 3):
        ids = [positions[:, : batch.inputs.shape[1]] for positions in batch.positions]
        expected = model(batch.inputs, ids, prompt=batch.answer)
        torch.testing.assert_close(plain(batch.inputs, *ids), expected, atol=1e-4, rtol=1e-4)


def test_a_name_that_model_py_has_already_is_refused(smoke: Smoke, mine: Callable[..., Path]) -> None:
    mine("load = torch.sqrt", "load")
    with pytest.raises(UserError, match="the name load stands for something else there"):
        model_source(smoke("encoding=mine"))


def test_what_needs_more_than_torch_is_refused_before_anything_is_written(
    smoke: Smoke, mine: Callable[..., Path]
) -> None:
    mine("from scipy import special", "special.sqrt")
    with pytest.raises(UserError, match=r"export: encoding mine cannot be written into model\.py, .*: it needs scipy"):
        model_source(smoke("encoding=mine"))


@pytest.mark.parametrize("asked", [[], ["12+34"], ["12", "-34"]])
def test_as_a_program_it_says_how_to_ask(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["model.py", *asked])
    with pytest.raises(SystemExit, match="usage: python model"):
        runpy.run_path(str(TEMPLATE), run_name="__main__")
