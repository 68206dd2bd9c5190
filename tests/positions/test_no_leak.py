"""No position id reveals the length of the answer before the model has written that much of it.

Ids come from code that lays out the true answer, so an id could give away what the question does not say: whether a
last carry makes the answer one digit longer. What would do so is refused.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest

from lengthlab.batches import Pipeline
from lengthlab.config.checks import check
from lengthlab.config.load import load_config
from lengthlab.config.schema import Config
from lengthlab.errors import UserError
from lengthlab.formats import FORMATS
from lengthlab.formats.vocabulary import END
from lengthlab.positions import POSITIONS
from lengthlab.seeding import generator

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "coupled": [{"symbols": "before"}, {"symbols": "after"}, {"symbols": "around"}]
}
CHOICES = [{"kind": name, **more} for name in POSITIONS.names() for more in VARIANTS.get(name, [{}])]


def configs(positions: dict[str, Any], order: str) -> list[Config]:
    """Every format with every padding, with hints and without, that can be combined with the order."""
    found = []
    for kind, hints, padding in product(FORMATS.names(), (0, 8), ("none", "longer", "carry", 6)):
        if kind == "scratchpad" and order == "standard":
            continue  # refused: carries are known from the units up
        format = {"kind": kind, "order": order, "hints": hints, "padding": padding}
        found.append(load_config("smoke", [f"format={format}", f"positions={positions}"]))
    return found


def ids_before_an_end(config: Config, training: bool) -> tuple[list[int], list[int]]:
    """Ids of 555+121, whose answer has three digits, and of 555+621, whose answer has four, up to the first end."""
    pipeline = Pipeline(config)
    fives = np.full((2, 3), 5, dtype=np.uint8)
    others = np.array([[1, 2, 1], [1, 2, 6]], dtype=np.uint8)
    written = pipeline.format.write(pipeline.task.solve((fives, others)), generator(0, "hints"), training)
    ids = pipeline.positions[0].assign(written.layout, generator(0, "ids"), 2, training)
    end = min(int(np.flatnonzero(row == END)[0]) for row in written.tokens)
    assert end > written.layout.answer
    return ids[0, :end].tolist(), ids[-1, :end].tolist()


@pytest.mark.parametrize("order", ["reversed", "answer-reversed", "standard"])
@pytest.mark.parametrize("positions", CHOICES, ids=lambda choice: "-".join(choice.values()))
def test_ids_up_to_the_end_of_the_shorter_answer_are_the_same_or_refused(positions: dict[str, Any], order: str) -> None:
    leaks = []
    for config in configs(positions, order):
        pairs = [ids_before_an_end(config, training) for training in (True, False)]
        if any(shorter != longer for shorter, longer in pairs):
            leaks.append(config)
            with pytest.raises(UserError, match=r"positions\.kind: the id of the answer's first digit would reveal"):
                check(config)
        elif config.format.model_dump()["hints"] == 0:
            check(config)  # nothing else is refused
    places = POSITIONS[positions["kind"]].load().from_places
    assert len(leaks) == (8 if places and order == "standard" else 0)
