"""A trained model from its run folder, and its scores into it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from lengthlab.batches import Pipeline
from lengthlab.config.checks import require_length, require_problems
from lengthlab.config.schema import Config
from lengthlab.errors import UserError
from lengthlab.evaluation.exact_match import Scores, evaluate
from lengthlab.evaluation.examples import example_file
from lengthlab.model.build import build_model, device_of, keep_freed_memory
from lengthlab.model.transformer import Transformer
from lengthlab.runs.columns import Row
from lengthlab.runs.files import LARGEST, Damaged, read_bytes
from lengthlab.runs.run import Run


def load_model(run: Run, weights: str = "last", config: Config | None = None) -> tuple[Transformer, Pipeline]:
    """The model of a run with its trained weights, ready for evaluation, and the pipeline that feeds it.

    `config` is the run's own, unless something is to be different at test.
    """
    file = run.weights_file(weights)
    run.require(file)
    if not file.exists():
        state = run.status.get("state", "unfinished")
        if state == "finished" and weights != "last":
            raise UserError(f"run {run.id} has no {weights} weights: it was trained without them; use --weights last")
        raise UserError(f"run {run.id} has no {file.name} (it is {state}); {run.resume_command} resumes it")
    keep_freed_memory()
    config = config or run.config
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary))
    try:
        missing, unexpected = model.load_state_dict(load_weights(file), strict=False)
    except RuntimeError as error:
        raise UserError(f"{file}: not the weights of this run ({str(error).splitlines()[0]})") from None
    named = {name for name, _ in model.named_parameters()}
    if unexpected or named & set(missing):
        raise UserError(f"{file}: not the weights of this run ({', '.join([*unexpected, *missing][:3])} do not match)")
    return model.to(device_of(config.training.device)).eval(), pipeline


def load_weights(file: Path) -> dict[str, Tensor]:
    """What a file of weights holds."""
    try:
        return load(read_bytes(file, LARGEST))
    except SafetensorError:
        raise Damaged(file, "not safetensors") from None


def evaluate_run(
    run: Run,
    model: Transformer,
    pipeline: Pipeline,
    weights: str = "last",
    digits: Sequence[int] | None = None,
    examples: int | None = None,
    chain: int | None = None,
    choices: Sequence[str] = (),
    option: str = "digits",
    progress: Callable[[Scores], None] = lambda row: None,
    note: Callable[[str], None] = lambda text: None,
) -> list[Row]:
    """All scores of a run at each length; its own lengths, examples and chain of carries if none are given.

    An example that was tested before is not tested again. `choices` are the settings in which the test differs from the
    run's config; `option` is what the caller calls `digits`, for messages.
    """
    own = pipeline.config.evaluation
    lengths, carries = digits or own.digits, own.chain if chain is None else chain
    require_length(pipeline, max(lengths), option)
    require_problems(pipeline, max(lengths), carries)
    kept = example_file(run.examples, run.weights_file(weights), weights, carries, sorted(choices), note)
    rows = evaluate(model, pipeline, lengths, examples or own.examples, carries, progress, kept)
    return [row.as_dict() | {"weights": weights, "chain": carries} for row in rows]
