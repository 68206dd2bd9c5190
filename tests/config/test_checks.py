"""What must hold between the parts of a config."""

from collections.abc import Callable

import pytest

from lengthlab.config.checks import check
from lengthlab.config.schema import Config
from lengthlab.errors import UserError


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["model.loops=3", "training.least_loops=4"], "training.least_loops: the most is model.loops, 3"),
        (["evaluation.weights=[ema]"], "evaluation.weights: ema needs training.ema"),
        (["evaluation.weights=[best]", "training.evaluate_digits=[4]"], "evaluation.weights: best needs"),
        (["training.stop_at=0.9", "training.evaluate_every=0"], "training.stop_at: needs training.evaluate_digits"),
    ],
)
def test_choices_that_need_evaluations_are_refused_without(
    overrides: list[str], message: str, smoke: Callable[..., Config]
) -> None:
    with pytest.raises(UserError, match=message):
        check(smoke(*overrides))
