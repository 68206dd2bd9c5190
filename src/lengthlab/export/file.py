"""One file that holds a trained model: its weights, and in the head of the file its config, vocabulary and facts.

The file is plain safetensors: any reader opens it, and none runs code.
"""

import json
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from lengthlab.batches import Pipeline
from lengthlab.config.load import validate
from lengthlab.config.schema import Config
from lengthlab.errors import UserError
from lengthlab.export.facts import Facts
from lengthlab.model.build import build_model
from lengthlab.model.transformer import Transformer
from lengthlab.runs.files import write_atomically


def save_model(path: Path, model: Transformer, config: Config, vocabulary: list[str], facts: Facts) -> None:
    """Write the file; tensors that are one and the same (tied weights) are written once."""
    tensors = {name: parameter.detach().cpu().contiguous() for name, parameter in model.named_parameters()}
    metadata = {
        "config": json.dumps(config.model_dump(mode="json")),
        "vocabulary": json.dumps(vocabulary),
        "facts": facts.model_dump_json(),
    }
    write_atomically(path, save(tensors, metadata))


def read_facts(path: Path) -> Facts:
    """The facts alone, without the weights."""
    return Facts.model_validate_json(_metadata(path)["facts"])


def open_model(path: Path) -> tuple[Transformer, Pipeline, Facts]:
    """The model, ready to be asked, with the pipeline that writes its questions."""
    metadata = _metadata(path)
    config = validate(json.loads(metadata["config"]))
    pipeline = Pipeline(config)
    if pipeline.format.vocabulary.texts != json.loads(metadata["vocabulary"]):
        raise UserError(f"{path}: its vocabulary is not that of this version of lengthlab")
    model = build_model(config, len(pipeline.format.vocabulary))
    with safe_open(path, framework="pt") as file:
        weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if weights.keys() != {name for name, _ in model.named_parameters()}:
        raise UserError(f"{path}: its weights are not those of this version of lengthlab")
    model.load_state_dict(weights, strict=False)  # buffers are computed, tied weights are there once
    return model.eval(), pipeline, Facts.model_validate_json(metadata["facts"])


def _metadata(path: Path) -> dict[str, str]:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise UserError(f"{path}: not a model ({error})") from None
    if missing := {"config", "vocabulary", "facts"} - metadata.keys():
        raise UserError(f"{path}: not a model that lengthlab wrote (no {min(missing)})")
    return metadata
