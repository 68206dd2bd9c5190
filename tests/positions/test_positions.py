"""Contracts of every registered scheme of position ids."""

from typing import Any

import numpy as np
import pytest

from lengthlab.formats.equation import Equation
from lengthlab.formats.format import FormatOptions
from lengthlab.formats.layout import Layout
from lengthlab.positions import POSITIONS
from lengthlab.positions.ids import PositionIds
from lengthlab.positions.randomized import Randomized, RandomizedOptions
from lengthlab.seeding import generator
from lengthlab.tasks.addition import Addition, AdditionOptions


def build(name: str, **options: Any) -> PositionIds:
    scheme = POSITIONS[name].load()
    return scheme(scheme.options_class(kind=name, **options))


def layout(digits: int) -> Layout:
    problems = Addition(AdditionOptions(kind="addition")).draw(generator(0, "test"), digits, 4)
    return Equation(FormatOptions(kind="equation"), "+").write(problems, generator(0, "hints")).layout


@pytest.mark.parametrize("name", POSITIONS.names())
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("digits", [1, 12])
def test_shape_range_and_reproducibility(name: str, training: bool, digits: int) -> None:
    where = layout(digits)
    ids, again = (build(name).assign(where, generator(5, "ids"), 4, training) for _ in range(2))
    assert ids.shape in {(1, where.columns), (4, where.columns)}
    assert ids.dtype == np.int64
    assert ids.min() >= 0
    np.testing.assert_array_equal(ids, again)


@pytest.mark.parametrize("name", ["sequential", "randomized"])
def test_order_is_kept(name: str) -> None:
    ids = build(name).assign(layout(20), generator(0, "ids"), 4, training=True)
    assert (np.diff(ids, axis=1) > 0).all()


def test_randomized_draws_once_for_a_batch_or_once_for_a_sequence() -> None:
    where = layout(3)
    assert build("randomized").assign(where, generator(0, "ids"), 4, True).shape[0] == 1
    rows = build("randomized", per="sequence").assign(where, generator(0, "ids"), 4, True)
    assert len({tuple(row) for row in rows.tolist()}) == 4


def test_randomized_can_be_switched_off_at_test_only() -> None:
    scheme, where = build("randomized", at_test=False), layout(3)
    np.testing.assert_array_equal(scheme.assign(where, generator(0, "ids"), 4, False)[0], np.arange(where.columns))
    assert scheme.assign(where, generator(0, "ids"), 4, True).max() >= where.columns


def test_randomized_is_a_uniform_sample_without_replacement() -> None:
    scheme = Randomized(RandomizedOptions(kind="randomized", maximum=40, per="sequence"))
    where = layout(1)  # 16 columns
    ids = scheme.assign(where, generator(0, "ids"), 10_000, True)
    assert all(len(set(row)) == where.columns for row in ids[:100].tolist())
    expected = 10_000 * where.columns / 40
    assert abs(np.bincount(ids.ravel(), minlength=40) - expected).max() < 6 * np.sqrt(expected)


def test_randomized_uses_its_whole_range_when_it_must() -> None:
    where = layout(2)
    ids = build("randomized", maximum=where.columns).assign(where, generator(0, "ids"), 1, True)
    np.testing.assert_array_equal(ids[0], np.arange(where.columns))
    assert build("randomized", maximum=where.columns).refusal(where) is None
    refusal = build("randomized", maximum=where.columns - 1).refusal(where)
    assert refusal is not None and refusal.startswith("maximum: ")
