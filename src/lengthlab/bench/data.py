"""`lengthlab bench data`: how fast examples are made, and what a plain Python loop would take.

The loop does the same work one example at a time, as research code usually does: random digits, an addition with
Python's integers, tokens appended to a list, in the same order with the same hints.
"""

import random
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lengthlab.batches import Pipeline
from lengthlab.bench.contestant import take_turns
from lengthlab.config.load import load_config, validate
from lengthlab.config.schema import Config
from lengthlab.formats import FORMATS
from lengthlab.formats.format import Format
from lengthlab.formats.vocabulary import BEGIN, END
from lengthlab.training.step import Engine

RECIPE = "zhou2024-mini"
BATCHES = 10  # in a turn of the arrays: the loop's thousands of lists leave the caches as no training does


@dataclass(frozen=True)
class FormatSpeed:
    """One format: tokens made per second, by arrays and by a loop."""

    format: str
    hints: int
    tokens_per_second: float
    loop_tokens_per_second: float

    @property
    def ratio(self) -> float:
        return self.tokens_per_second / self.loop_tokens_per_second

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"ratio": self.ratio}


def bench_formats(digits: int, batch: int, repeats: int) -> list[FormatSpeed]:
    """Sums of `digits` digits in batches of `batch`, for every format, with and without hints."""
    rows = []
    for kind in FORMATS.names():
        for hints in (0, 102):
            pipeline = Pipeline(validate({"format": {"kind": kind, "hints": hints}}))
            rng, plain = np.random.default_rng(0), random.Random(0)
            tokens = pipeline.format.write(pipeline.task.draw(rng, digits, batch), rng).tokens.size
            assert tokens == batch * len(plain_row(pipeline.format, kind, digits, plain)), (
                "the loop must do the same work"
            )

            def arrays(pipeline: Pipeline = pipeline, rng: np.random.Generator = rng) -> None:
                for _ in range(BATCHES):
                    pipeline.format.write(pipeline.task.draw(rng, digits, batch), rng)

            def loop(pipeline: Pipeline = pipeline, kind: str = kind, plain: random.Random = plain) -> None:
                np.array([plain_row(pipeline.format, kind, digits, plain) for _ in range(batch)])

            timing = take_turns({"arrays": arrays, "loop": loop}, repeats)
            rows.append(
                FormatSpeed(kind, hints, BATCHES * tokens / timing["arrays"].median, tokens / timing["loop"].median)
            )
    return rows


def plain_row(format: Format, kind: str, digits: int, rng: random.Random) -> list[int]:
    """One sum, reversed, with room for a carry, written token by token."""
    a, b = (rng.randrange(10 ** (digits - 1) if digits > 1 else 0, 10**digits) for _ in range(2))
    numbers = [[int(digit) for digit in str(number).zfill(digits + 1)[::-1]] for number in (a, b, a + b)]
    hints = format.options.hints
    first = format.vocabulary.first_hint + rng.randint(0, hints - digits - 1) if hints else 0

    def digit(number: int, place: int) -> list[int]:
        return [first + place, numbers[number][place]] if hints else [numbers[number][place]]

    row = [BEGIN]
    if kind == "interleaved":
        for place in range(digits + 1):
            if place:
                row.append(format.vocabulary[","])
            row += digit(0, place) + digit(1, place)
    else:
        for number in (0, 1):
            if number:
                row.append(format.vocabulary["+"])
            for place in range(digits + 1):
                row += digit(number, place)
    row.append(format.equals)
    carry = 0
    for place in range(digits + 1):
        row += digit(2, place)
        if kind == "scratchpad":
            carry = (numbers[0][place] + numbers[1][place] + carry) // 10
            row += [format.vocabulary["/"], carry]
    row.append(END)
    return row


def share_of_a_step(config: Config, repeats: int) -> float:
    """The time to make a step's batch as a share of the whole step, at the full training length."""
    engine = Engine(config)
    step = config.training.steps - 1  # the longest lengths
    timing = take_turns(
        {
            "data": lambda: engine.pipeline.training_batches(step, config.training.digits),
            "step": lambda: engine.step(step),
        },
        repeats,
    )
    return timing["data"].median / timing["step"].median


def bench_data(digits: int, batch: int, repeats: int) -> dict[str, Any]:
    """Everything that `lengthlab bench data` prints."""
    rows = [row.as_dict() for row in bench_formats(digits, batch, repeats)]
    share = share_of_a_step(load_config(RECIPE, ["training.compile=off"]), max(5, repeats // 3))
    return {"digits": digits, "batch": batch, "formats": rows, "recipe": RECIPE, "share_of_a_step": share}
