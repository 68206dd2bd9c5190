"""How much a run computes, from its config alone: what estimates, the choice of hardware and experiments' costs use.

A token is multiplied by every matrix once in a forward pass, 2 FLOPs a parameter, and meets all tokens of its sequence
in attention; the backward pass costs twice the forward. Everything is counted in closed form, however many steps.
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from lengthlab.config.model import ModelOptions
from lengthlab.config.schema import Config
from lengthlab.config.sections import Options
from lengthlab.formats import FORMATS
from lengthlab.formats.format import Format
from lengthlab.tasks import TASKS
from lengthlab.training.schedule import longest_digits


@dataclass(frozen=True)
class Work:
    """Counts over a whole run; random lengths enter with their mean."""

    examples: float
    tokens: float
    flops: float


def count_work(config: Config) -> Work:
    """All steps of a run, up to its limits. Work that is left out (questions in the last block) counts as done."""
    training = config.training
    columns = [columns_of(config, digits) for digits in range(1, training.digits + 1)]
    drawn = _shares(config, columns)
    sums = [list(accumulate(share * column**power for share, column in zip(drawn, columns, strict=True)))
            for power in (0, 1, 2)]  # fmt: skip
    weights = list(accumulate(map(training.length_weight, range(1, training.digits + 1))))
    examples = tokens = pairs = 0.0
    for longest, steps in _steps_by_length(config).items():
        of_lengths = [sum_[longest - 1] for sum_ in sums]
        if training.pack:  # as many as fill the rows
            factor = steps * training.batch * training.pack / of_lengths[1]
        else:
            factor = steps * training.accumulate / weights[longest - 1]
        counts = [factor * sum_ for sum_ in of_lengths]
        examples, tokens, pairs = examples + counts[0], tokens + counts[1], pairs + counts[2]
    limits = ((training.max_examples, examples), (training.max_tokens, tokens))
    share = min([1.0, *(limit / count for limit, count in limits if limit)])  # of all the steps
    return Work(share * examples, share * tokens, share * 3 * _forward(config, tokens, pairs, _mean_loops(config)))


def longest_rows(config: Config) -> float:
    """How many examples of the training length are in one batch."""
    training = config.training
    columns = [columns_of(config, digits) for digits in range(1, training.digits + 1)]
    if not training.pack:
        return training.batch_size(columns[-1])
    drawn = _shares(config, columns)
    tokens = sum(share * column for share, column in zip(drawn, columns, strict=True))
    return drawn[-1] * training.batch * training.pack / tokens


def _shares(config: Config, columns: list[int]) -> list[float]:
    """How many examples of each length a step has, but for a factor that all lengths share."""
    training = config.training
    sizes = [1 if training.pack else training.batch_size(column) for column in columns]
    return [training.length_weight(digits) * size for digits, size in enumerate(sizes, start=1)]


def testing_flops(config: Config) -> float:
    """Of the evaluation after training, one pass for each problem: more where answers are wrong and written out."""
    options = config.evaluation
    columns = [columns_of(config, digits) for digits in options.digits]
    once = _forward(config, sum(columns), sum(column**2 for column in columns), config.model.loops)
    return len(options.weights) * options.examples * once


def multiplied(options: ModelOptions, vocabulary: int, loops: float) -> float:
    """How many parameters each token is multiplied by, those of the output included."""
    return options.layers * loops * sum(block_matrices(options)) + vocabulary * options.width


def block_matrices(options: ModelOptions) -> tuple[int, int]:
    """Parameters of a block: in the four matrices of attention, in the three of the feed-forward part."""
    return 4 * options.width**2, 3 * options.width * options.feedforward


def columns_of(config: Config, digits: int) -> int:
    """What `Format.token_count` says of a config."""
    return _format(config.task, config.format).token_count(digits)


def _mean_loops(config: Config) -> float:
    """How many times a step of training applies the layers."""
    least, most = config.training.least_loops, config.model.loops
    return (least + most) / 2 if least else most


def _forward(config: Config, tokens: float, pairs: float, loops: float) -> float:
    """FLOPs of forward passes over sequences with these sums of lengths and of squared lengths."""
    shape = config.model
    vocabulary = len(_format(config.task, config.format).vocabulary)
    return 2 * multiplied(shape, vocabulary, loops) * tokens + 4 * shape.layers * loops * shape.width * pairs


def _steps_by_length(config: Config) -> dict[int, int]:
    """How many steps have each longest length; it never falls, so its changes can be searched for."""
    training = config.training
    found, begin = {}, 0
    while begin < training.steps:
        longest = longest_digits(begin, training)
        end = bisect_left(range(training.steps), longest + 1, key=lambda step: longest_digits(step, training))
        found[longest], begin = end - begin, end
    return found


@lru_cache(maxsize=1000)
def _format(task: Options, format_: Options) -> Format:
    return FORMATS[format_.kind].load()(format_, TASKS[task.kind].load()(task))
