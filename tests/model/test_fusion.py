"""Compiled parts of the model compute what they would compute otherwise."""

from collections.abc import Callable

import pytest
from torch._dynamo.utils import counters

from lengthlab.config import Config
from lengthlab.training.step import Engine


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # torch's own, which it hides from its users
def test_compile_can_be_forced_changes_nothing_and_serves_all_lengths_at_once(smoke: Callable[..., Config]) -> None:
    eager, compiled = (Engine(smoke(f"training.compile={choice}", "training.growth=0")) for choice in ("off", "on"))
    before = counters["stats"]["unique_graphs"]
    widths = set()
    for step in range(6):
        widths |= {batch.tokens.shape[1] for batch in compiled.pipeline.training_batches(step, 3)}
        assert compiled.step(step)["loss"] == pytest.approx(eager.step(step)["loss"], rel=1e-4)
    assert len(widths) > 1
    assert counters["stats"]["unique_graphs"] - before == 2  # one for the norm, one for the feed-forward layer
