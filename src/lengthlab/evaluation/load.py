"""A trained model from its run folder."""

from safetensors import SafetensorError
from safetensors.torch import load_file

from lengthlab.batches import Pipeline
from lengthlab.config import Config
from lengthlab.errors import UserError
from lengthlab.model.build import build_model
from lengthlab.model.device import device_of
from lengthlab.model.memory import keep_freed_memory
from lengthlab.model.transformer import Transformer
from lengthlab.runs import Run


def load_model(run: Run, weights: str = "last", config: Config | None = None) -> tuple[Transformer, Pipeline]:
    """The model of a run with its trained weights, ready for evaluation, and the pipeline that feeds it.

    `config` is the run's own, unless something is to be different at test.
    """
    file = run.weights_file(weights)
    if not file.exists():
        state = run.status.get("state", "unfinished")
        if state == "finished":
            raise UserError(f"run {run.id} has no {weights} weights: it was trained without; use --weights last")
        raise UserError(
            f"run {run.id} has no {file.name} (it is {state}); lengthlab train --resume {run.id} goes on with it"
        )
    keep_freed_memory()
    config = config or run.config
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary))
    try:
        missing, unexpected = model.load_state_dict(load_file(file), strict=False)
    except (SafetensorError, RuntimeError) as error:
        raise UserError(f"{file}: not the weights of this run ({str(error).splitlines()[0]})") from None
    named = {name for name, _ in model.named_parameters()}
    if unexpected or named & set(missing):
        raise UserError(f"{file}: not the weights of this run ({', '.join([*unexpected, *missing][:3])} do not match)")
    return model.to(device_of(config.training.device)).eval(), pipeline
