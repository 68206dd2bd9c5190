"""One row for each example on disk, and evaluations that go on where they were cut."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lengthlab.batches import Batch, Pipeline
from lengthlab.config import Config
from lengthlab.evaluation import exact_match as module
from lengthlab.evaluation.answers import Answers
from lengthlab.evaluation.exact_match import evaluate
from lengthlab.evaluation.examples import ExampleFile, example_file
from lengthlab.files import read_lines
from lengthlab.model.build import build_model
from lengthlab.model.transformer import Transformer


def test_an_evaluation_cut_short_goes_on(
    smoke: Callable[..., Config], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = smoke("format.hints=0", "training.digits=1")
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary)).eval()
    path = tmp_path / "examples.jsonl"
    whole = evaluate(model, pipeline, [1, 2], 50, kept=ExampleFile(path, {"weights": "x"}))
    lines = read_lines(path)
    assert len(lines) == 101 and lines[0] == {"weights": "x"}

    cut = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(cut[:71]) + cut[71][:9])  # 20 of the second length, and half a line
    computed: list[int] = []
    original = module.answers

    def counting(model: Transformer, batch: Batch) -> Answers:
        computed.append(len(batch.tokens))
        return original(model, batch)

    monkeypatch.setattr(module, "answers", counting)
    assert evaluate(model, pipeline, [1, 2], 50, kept=ExampleFile(path, {"weights": "x"})) == whole
    assert sum(computed) == 34  # blocks of 16: the 4 of the block that was cut, again, and 30 new ones
    assert read_lines(path) == lines
    computed.clear()
    assert evaluate(model, pipeline, [1, 2], 40, kept=ExampleFile(path, {"weights": "x"}))[0].examples == 40
    assert not computed


def test_examples_of_other_weights_are_not_mistaken_for_these(tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"one")
    path = example_file(tmp_path / "examples", weights, "last", 0).path
    assert path is not None and path.name == "last.jsonl"
    path.write_bytes(path.read_bytes() + b'{"digits":1}\n')
    weights.write_bytes(b"two")
    example_file(tmp_path / "examples", weights, "last", 0)
    assert len(read_lines(path)) == 1
    other = example_file(tmp_path / "examples", weights, "last", 3, ["model.logit_factor_at_test=2"]).path
    assert other is not None and other.name.startswith("last-chain3-")
