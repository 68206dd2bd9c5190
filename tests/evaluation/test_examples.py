"""One row for each example on disk, and evaluations that resume where they were cut."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lengthlab.batches import Batch, Pipeline
from lengthlab.config.schema import Config
from lengthlab.evaluation import exact_match as module
from lengthlab.evaluation.answers import Answers
from lengthlab.evaluation.exact_match import evaluate
from lengthlab.evaluation.examples import Example, ExampleFile, example_file
from lengthlab.model.build import build_model
from lengthlab.model.transformer import Transformer
from lengthlab.runs.files import read_lines

EXAMPLE = Example(1, 0, True, 3, 3, 2, 2, True)


def test_an_evaluation_cut_short_goes_on(
    smoke: Callable[..., Config], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = smoke("format.hints=0", "training.digits=1")
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary)).eval()
    path = tmp_path / "examples.jsonl"
    whole = evaluate(model, pipeline, [1, 2], 50, kept=ExampleFile(path, {"weights": "x"}))
    lines = read_lines(path)
    assert len(lines) == 101 and lines[0] == {"weights": "x", "checked": True}

    cut = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(cut[:71]) + cut[71][:9])  # 20 of the second length, and half a line
    computed: list[int] = []
    original = module.answers_together

    def counting(model: Transformer, batches: Sequence[Batch]) -> list[Answers]:
        computed.extend(len(batch.tokens) for batch in batches)
        return original(model, batches)

    monkeypatch.setattr(module, "answers_together", counting)
    assert evaluate(model, pipeline, [1, 2], 50, kept=ExampleFile(path, {"weights": "x"})) == whole
    assert sum(computed) == 34  # blocks of 16: the 4 of the block that was cut, again, and 30 new ones
    assert read_lines(path) == lines
    computed.clear()
    assert evaluate(model, pipeline, [1, 2], 40, kept=ExampleFile(path, {"weights": "x"}))[0].examples == 40
    assert not computed


def test_examples_of_other_weights_are_not_mistaken_for_these(tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"one")
    tested = example_file(tmp_path / "examples", weights, "last", 0)
    assert tested.path is not None and tested.path.name == "last.jsonl"
    tested.add([EXAMPLE])
    assert example_file(tmp_path / "examples", weights, "last", 0).first(1, 1) == [EXAMPLE]
    weights.write_bytes(b"two")
    assert example_file(tmp_path / "examples", weights, "last", 0).first(1, 1) == []
    other = example_file(tmp_path / "examples", weights, "last", 3, ["model.logit_factor_at_test=2"]).path
    assert other is not None and other.name.startswith("last-chain3-")


DAMAGE = {
    "another answer": lambda row: row.replace(b'"right":true', b'"right":false'),
    "no number": lambda row: row.replace(b'"index":0', b'"index":"0"'),
    "no checksum": lambda row: row.replace(b'"check"', b'"chech"'),
    "no JSON": lambda row: row[:-5] + b"\n",
    "no text": lambda row: b"\xff" + row[1:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_row_that_is_not_what_was_written_is_named_and_tested_again(damage: str, tmp_path: Path) -> None:
    path, notes = tmp_path / "examples.jsonl", []
    ExampleFile(path, {"weights": "x"}).add([EXAMPLE, replace(EXAMPLE, index=1)])
    header, first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(header + DAMAGE[damage](first) + second)
    kept = ExampleFile(path, {"weights": "x"}, notes.append)
    assert kept.first(1, 2) == [] and notes == [f"{path}: 1 damaged row, tested again"]
    kept.add([EXAMPLE])
    assert ExampleFile(path, {"weights": "x"}, notes.append).first(1, 2) == [EXAMPLE, replace(EXAMPLE, index=1)]
    assert len(notes) == 1


def test_rows_of_earlier_versions_have_no_checksum(tmp_path: Path) -> None:
    path = tmp_path / "examples.jsonl"
    path.write_text(json.dumps({"weights": "x"}) + "\n" + json.dumps(EXAMPLE.as_dict()) + "\n")
    assert ExampleFile(path, {"weights": "x"}).first(1, 1) == [EXAMPLE]


def test_a_folder_that_cannot_be_written_keeps_no_answers_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, notes = tmp_path / "examples.jsonl", []
    ExampleFile(path, {"weights": "x"}).add([EXAMPLE])

    def refuse(*arguments: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("os.fsync", refuse)
    monkeypatch.setattr("lengthlab.evaluation.examples.append_lines", refuse)
    kept = ExampleFile(path, {"weights": "x"}, notes.append)
    assert kept.first(1, 1) == [EXAMPLE] and not notes  # what is known needs no writing
    kept.add([replace(EXAMPLE, index=1)])
    assert len(kept.first(1, 2)) == 2 and notes == [f"{path}: Read-only file system; the answers are not kept"]
