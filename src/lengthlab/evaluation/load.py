"""A trained model from its run folder."""

from safetensors import SafetensorError
from safetensors.torch import load_file

from lengthlab.batches import Pipeline
from lengthlab.errors import UserError
from lengthlab.model.build import build_model
from lengthlab.model.transformer import Transformer
from lengthlab.runs import Run


def load_model(run: Run) -> tuple[Transformer, Pipeline]:
    """The model of a run with its trained weights, ready for evaluation, and the pipeline that feeds it."""
    if not run.weights.exists():
        state = run.status.get("state", "unfinished")
        raise UserError(
            f"run {run.id} has no weights yet (it is {state}); lengthlab train {run.path}/config.yaml --fresh trains it"
        )
    pipeline = Pipeline(run.config)
    model = build_model(run.config, len(pipeline.format.vocabulary))
    try:
        missing, unexpected = model.load_state_dict(load_file(run.weights), strict=False)
    except (SafetensorError, RuntimeError) as error:
        raise UserError(f"{run.weights}: not the weights of this run ({str(error).splitlines()[0]})") from None
    named = {name for name, _ in model.named_parameters()}
    if unexpected or named & set(missing):
        raise UserError(
            f"{run.weights}: not the weights of this run ({', '.join([*unexpected, *missing][:3])} do not match)"
        )
    return model.eval(), pipeline
