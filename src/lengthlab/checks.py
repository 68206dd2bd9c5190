"""What must hold between the parts of a config, checked before anything is written."""

from lengthlab.batches import Pipeline
from lengthlab.config import Config
from lengthlab.errors import UserError


def check(config: Config) -> None:
    """Refuse a config that cannot be trained or tested as it stands, naming the option to change."""
    _check_lengths(config)
    _check_evaluations(config)


def _check_lengths(config: Config) -> None:
    """Hints, position ids and tables must reach every length of training and test."""
    pipeline = Pipeline(config)
    wanted = {"training.digits": config.training.digits, "evaluation.digits": max(config.evaluation.digits)}
    if config.training.evaluate_digits:
        wanted["training.evaluate_digits"] = max(config.training.evaluate_digits)
    for path, digits in sorted(wanted.items(), key=lambda item: -item[1]):  # the longest first: it needs the most
        pipeline.require(digits, path)
    pipeline.require(config.training.digits, "training.digits", training=True)
    longest = pipeline.format.widest(config.training.digits, training=True).columns - 1  # the last is only predicted
    if config.training.rows == "packed" and config.training.pack < longest:
        reason = f"an example of {config.training.digits} digits has {longest} tokens"
        raise UserError(f"training.pack: rows of {config.training.pack} tokens are too short; {reason}")
    if config.evaluation.chain:
        next(pipeline.test_batches(max(config.evaluation.digits), 1, config.evaluation.chain))


def _check_evaluations(config: Config) -> None:
    """What is chosen by an evaluation on the way needs one."""
    training, weights = config.training, config.evaluation.weights
    if "ema" in weights and not training.ema:
        raise UserError("evaluation.weights: ema needs training.ema, such as training.ema=0.999")
    if training.evaluate_every and any(digits <= training.digits for digits in training.evaluate_digits):
        return
    if "best" in weights:
        raise UserError("evaluation.weights: best needs training.evaluate_digits with lengths of training")
    if training.stop_at:
        raise UserError("training.stop_at: needs training.evaluate_digits with lengths of training")
