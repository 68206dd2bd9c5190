"""A finite training set: the same problems in every order and every pass."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from lengthlab.config.checks import check
from lengthlab.config.schema import Config
from lengthlab.errors import UserError
from lengthlab.tasks import TASKS
from lengthlab.tasks.finite import BLOCK, TrainingSet
from lengthlab.training.step import Engine

SIZE = 10 * BLOCK


def drawn(digits: int = 4, passes: int = 1, data: int = 0, order: int = 0, at_once: int = 24) -> list[bytes]:
    """All problems of one length, in batches that do not fit the blocks."""
    task = TASKS["addition"].load()(TASKS["addition"].options_class(kind="addition"))
    training = TrainingSet(task, 4 * SIZE, {digits: 0.25, digits + 1: 0.75}, data, order)
    found = []
    for seen in range(0, passes * SIZE, at_once):
        problems = training.problems(digits, seen, min(at_once, passes * SIZE - seen))
        found += [np.concatenate(row).tobytes() for row in zip(*problems.numbers, strict=True)]
    assert len(found) == passes * SIZE
    return found


def test_orders_differ_and_the_set_does_not() -> None:
    first, other = drawn(order=0), drawn(order=1)
    assert first != other and Counter(first) == Counter(other)
    assert drawn(data=1) != first and not Counter(drawn(data=1)) & Counter(first)
    assert len(set(first)) == SIZE


def test_every_pass_has_the_same_problems_in_an_order_of_its_own() -> None:
    two = drawn(passes=2)
    assert two[:SIZE] == drawn() and two[SIZE:] != two[:SIZE]
    assert Counter(two[SIZE:]) == Counter(two[:SIZE])


def test_batches_do_not_change_the_order() -> None:
    assert drawn(at_once=7) == drawn(at_once=160)


def test_an_engine_counts_what_it_has_seen(smoke: Callable[..., Config]) -> None:
    engine = Engine(smoke("training.examples=96", "training.accumulate=3"))
    for step in range(3):
        engine.step(step)
    assert sum(engine.seen.values()) == 3 * 3 * 8
    lengths = [batch.digits for batch in engine.pipeline.training_batches(3, 3, seen=engine.seen)]
    assert len(lengths) == 3 and set(lengths) <= {1, 2, 3}


def test_data_decides_the_problems_and_order_their_order(smoke: Callable[..., Config]) -> None:
    def problems(*overrides: str) -> set[tuple[int, ...]]:
        """Questions of the training set without their hints, over many passes."""
        engine = Engine(smoke("training.examples=48", "format.hints=0", "positions=sequential", *overrides))
        rows = set()
        for step in range(60):
            for batch in engine.pipeline.training_batches(step, 3, seen=engine.seen):
                engine.seen[batch.digits] += len(batch.tokens)
                rows |= {tuple(row) for row in batch.tokens.tolist()}
        return rows

    one = problems()
    assert len(one) <= 48 and one == problems("seeds.order=1") and one != problems("seeds.data=1")


def test_operands_of_different_lengths_are_refused(smoke: Callable[..., Config]) -> None:
    config = smoke("training.examples=100", "task.lengths=independent", "format.padding=none")
    with pytest.raises(UserError, match=r"training\.examples: .*set task\.lengths to equal"):
        check(config)
