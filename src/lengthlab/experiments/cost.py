"""How long a run will take, roughly, from its config alone: FLOPs over the speed that a scale assumes."""

import json
from functools import cache

from lengthlab.config import Config
from lengthlab.experiments.scales import SCALES, ScaleName
from lengthlab.formats import FORMATS
from lengthlab.formats.format import Format
from lengthlab.recipes.load import validate
from lengthlab.tasks import TASKS
from lengthlab.training.schedule import longest_digits

SAMPLES = 20  # points of training at which the growing length is looked at


def seconds(config: Config, scale: ScaleName) -> float:
    """Training, testing and starting, on one core or one GPU as the scale assumes."""
    shape, training = config.model, config.training
    matrices = shape.layers * shape.loops * (4 * shape.width**2 + 3 * shape.width * shape.feedforward)

    def flops(tokens: float) -> float:
        """Of one forward pass over a sequence, for each token."""
        return 2 * matrices + 4 * shape.layers * shape.loops * shape.width * tokens

    text = _format_of(config)
    reached = [longest_digits(training.steps * point // SAMPLES, training) for point in range(SAMPLES)]
    trained = 0.0
    for longest in reached:
        lengths = [tokens(text, digits) for digits in range(1, longest + 1)]
        mean = sum(lengths) / longest
        examples = training.batch * (training.pack / mean if training.pack else training.accumulate)
        trained += 3 * examples * sum(n * flops(n) for n in lengths) / longest  # a step: forward and twice that back
    trained *= training.steps / SAMPLES
    lengths = [tokens(text, digits) for digits in config.evaluation.digits]
    tested = len(config.evaluation.weights) * config.evaluation.examples * sum(n * flops(n) for n in lengths)
    assumed = SCALES[scale]
    return assumed.start + (trained + tested) / assumed.flops


def _format_of(config: Config) -> str:
    return config.model_dump_json(include={"task", "format"})


@cache
def tokens(text: str, digits: int) -> int:
    """How many tokens a problem has, for the task and format of a config (as JSON)."""
    return _writer(text).widest(digits, training=False).columns


@cache
def _writer(text: str) -> Format:
    config = validate(json.loads(text))
    return FORMATS[config.format.kind].load()(config.format, TASKS[config.task.kind].load()(config.task))


def duration(seconds: float) -> str:
    """
    >>> duration(20), duration(300), duration(7200), duration(360000)
    ('20 s', '5 min', '2.0 h', '4.2 days')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"
