"""What must hold between the parts of a config, checked before anything is written."""

from lengthlab.batches import Pipeline
from lengthlab.config import Config


def check(config: Config) -> None:
    """Refuse a config whose training or test lengths its hints or position ids cannot reach."""
    pipeline = Pipeline(config)
    wanted = {"training.digits": config.training.digits, "evaluation.digits": max(config.evaluation.digits)}
    if config.training.evaluate_digits:
        wanted["training.evaluate_digits"] = max(config.training.evaluate_digits)
    for path, digits in sorted(wanted.items(), key=lambda item: -item[1]):  # the longest first: it needs the most
        pipeline.require(digits, path)
    pipeline.require(config.training.digits, "training.digits", training=True)
    if config.evaluation.chain:
        next(pipeline.test_batches(max(config.evaluation.digits), 1, config.evaluation.chain))
