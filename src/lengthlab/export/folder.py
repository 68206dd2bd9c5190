"""A run as a folder that needs no lengthlab: weights, card, plain model.py and, where it can be made, ONNX."""

import importlib.util
import io
import logging
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import torch
from torch import nn

from lengthlab.batches import Batch, Pipeline
from lengthlab.errors import RunFailed, UserError
from lengthlab.evaluation.load import load_model
from lengthlab.export.card import model_card
from lengthlab.export.facts import facts_of
from lengthlab.export.file import save_model
from lengthlab.export.source import model_source
from lengthlab.model.transformer import Transformer
from lengthlab.runs.files import write_atomically
from lengthlab.runs.run import Run

CLOSE = 1e-3  # logits of about 10 that differ by less come from the order of additions
CONTENTS = """## Files

- `model.safetensors`: the weights; config, vocabulary and facts are in its metadata
- `model.py`: the model in torch alone; {use}{onnx}
"""
ONNX = (
    "\n- `model.onnx`: the same; inputs `tokens` (rows, columns) and `positions_0`, ... (1, columns); output `logits`"
)


@dataclass(frozen=True)
class Exported:
    """What was written, and how far the logits of each copy are from the original's."""

    files: list[Path]
    differences: dict[str, float]
    note: str = ""  # why something is missing


def export_run(
    run: Run, folder: Path, onnx: bool | None = None, note: Callable[[str], None] = lambda text: None
) -> Exported:
    """Write the folder and check it; `onnx` None: where its packages are installed. `note` hears about damage."""
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"--to: {folder} is not empty; name a new folder")
    wanted = has_onnx() if onnx is None else onnx
    if wanted and not has_onnx():
        raise UserError("--onnx needs onnx, onnxscript and onnxruntime: pip install 'lengthlab[onnx]'")
    model, pipeline = load_model(run)
    text = model_source(pipeline.config)  # refused before anything is written
    parameters = sum(parameter.numel() for parameter in model.parameters())
    chosen = "It was exported by name, not chosen among others."
    facts = facts_of(run, f"lengthlab-{run.id}", parameters, chosen, note=note)
    folder.mkdir(parents=True, exist_ok=True)
    weights, source = folder / "model.safetensors", folder / "model.py"
    save_model(weights, model, pipeline.config, pipeline.format.vocabulary.texts, facts)
    write_atomically(source, text)
    plain, examples = standalone(text, str(source)).load(weights).eval(), list(_questions(pipeline))
    differences = {"model.py": max(_difference(model, plain, batch) for batch in examples)}
    if not differences["model.py"] < CLOSE:
        source.unlink()
        by = f"by {differences['model.py']:.2g}"
        raise RunFailed(f"model.py: its logits differ from those of run {run.id} ({by}); only {weights} was written")
    files = [weights, source]
    missing = "" if wanted else "no model.onnx: pip install 'lengthlab[onnx]' for it"
    if wanted:
        try:
            write_onnx(plain, examples[-1], folder / "model.onnx")
        except Exception as error:  # torch's, of code that it cannot trace: an encoding of one's own, say
            reason = str(error).strip().partition("\n")[0]
            missing, wanted = f"no model.onnx: torch cannot trace this model ({type(error).__name__}: {reason})", False
    if wanted:
        files.append(folder / "model.onnx")
        differences["model.onnx"] = max(largest_difference(folder / "model.onnx", model, batch) for batch in examples)
        if not differences["model.onnx"] < CLOSE:
            by = f"by {differences['model.onnx']:.2g}"
            raise RunFailed(f"model.onnx: its logits differ from those of run {run.id} ({by})")
    contents = CONTENTS.format(use=_use(plain), onnx=ONNX if wanted else "")
    write_atomically(folder / "README.md", model_card(facts, contents))
    return Exported([*files, folder / "README.md"], differences, missing)


def _use(plain: nn.Module) -> str:
    """How model.py is asked: for sums, where it can write them as the model reads them."""
    try:
        plain.question("1", "1")  # type: ignore[operator]
    except NotImplementedError:
        return "call its `Model` with tokens and position ids"
    return "`python model.py 31415926 27182818` adds"


def has_onnx() -> bool:
    """Whether everything that makes and runs ONNX files is installed."""
    return all(importlib.util.find_spec(name) for name in ("onnx", "onnxscript", "onnxruntime"))


def standalone(text: str, name: str) -> ModuleType:
    """A model.py as a module, without the compiled copy that an import would leave beside it."""
    module = ModuleType("lengthlab_exported_model")
    module.__file__ = name
    exec(compile(text, name, "exec"), module.__dict__)
    return module


def _questions(pipeline: Pipeline) -> list[Batch]:
    """A few test problems of the shortest and the longest length of training."""
    lengths = sorted({1, pipeline.config.training.digits})
    return [batch for digits in lengths for _, batch in pipeline.test_batches(digits, 4)]


@torch.no_grad()
def _difference(model: Transformer, plain: nn.Module, batch: Batch) -> float:
    columns = batch.inputs.shape[1]
    ids = [positions[:, :columns] for positions in batch.positions]
    expected = model(batch.inputs, ids, prompt=batch.answer)
    return float((plain(batch.inputs, *ids) - expected).abs().max())


def write_onnx(plain: nn.Module, batch: Batch, path: Path) -> None:
    """Trace the model on a batch; rows and columns stay free."""
    columns = batch.inputs.shape[1]
    ids = tuple(positions[:1, :columns].contiguous() for positions in batch.positions)
    names = [f"positions_{index}" for index in range(len(ids))]
    rows, free = torch.export.Dim("rows"), torch.export.Dim("columns")
    shapes = {"tokens": {0: rows, 1: free}, "positions": tuple({1: free} for _ in ids)}
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")  # of the exporter about its own parts
        program = torch.onnx.export(
            plain,
            (batch.inputs.contiguous(), *ids),
            dynamo=True,
            dynamic_shapes=shapes,
            input_names=["tokens", *names],
            output_names=["logits"],
            verbose=False,
        )
    assert program is not None
    program.save(str(path))


@torch.no_grad()
def largest_difference(path: Path, model: Transformer, batch: Batch) -> float:
    """How far its logits are from the original's, in onnxruntime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    columns = batch.inputs.shape[1]
    ids = [positions[:1, :columns] for positions in batch.positions]
    inputs = {"tokens": batch.inputs.numpy()} | {f"positions_{i}": p.numpy() for i, p in enumerate(ids)}
    (found,) = session.run(["logits"], inputs)
    return float((torch.from_numpy(found) - model(batch.inputs, ids, prompt=batch.answer)).abs().max())
