"""What `lengthlab export` writes: the same model, as a file and as ONNX."""

from pathlib import Path

import torch

from lengthlab.export.file import open_model
from lengthlab.export.folder import export_run
from lengthlab.runs.run import Run


def test_the_file_is_the_model(trained: Path, tmp_path: Path) -> None:
    from lengthlab.evaluation.load import load_model

    export_run(Run(trained), tmp_path / "model", onnx=False)
    again, pipeline, facts = open_model(tmp_path / "model" / "model.safetensors")
    original, _ = load_model(Run(trained))
    for (name, one), (_, other) in zip(original.named_parameters(), again.named_parameters(), strict=True):
        assert torch.equal(one, other), name
    assert (
        facts.recipe == (Run(trained).recipe or "a recipe of its own")
        and facts.run == trained.name
        and pipeline.config == Run(trained).config
    )
    assert [score.digits for score in facts.scores] == [1, 2, 3, 4, 5]
    assert [(run.run, run.seed) for run in facts.tried] == [(trained.name, "0")]


def test_onnx_gives_the_same_logits(trained: Path, tmp_path: Path) -> None:
    """At lengths and numbers of rows that it was not traced with."""
    from lengthlab.evaluation.load import load_model
    from lengthlab.export.folder import largest_difference

    exported = export_run(Run(trained), tmp_path / "model", onnx=True)
    assert exported.differences["model.onnx"] < 1e-4
    model, pipeline = load_model(Run(trained))
    for _, batch in pipeline.test_batches(9, 7):
        assert largest_difference(tmp_path / "model" / "model.onnx", model, batch) < 1e-4
