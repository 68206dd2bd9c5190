"""What each scheme of position ids does (the contracts of all of them are in `lengthlab.config.contracts`)."""

from typing import Any

import numpy as np
import pytest

from lengthlab.config.contracts.positions import build as build_positions
from lengthlab.config.contracts.positions import layout
from lengthlab.formats.equation import Equation
from lengthlab.formats.format import FormatOptions
from lengthlab.formats.layout import Layout
from lengthlab.positions import POSITIONS
from lengthlab.positions.ids import PositionIds
from lengthlab.positions.randomized import Randomized, RandomizedOptions
from lengthlab.seeding import generator
from lengthlab.tasks.addition import Addition, AdditionOptions

SYMBOLS = ("before", "after", "around")


def build(name: str, **options: Any) -> PositionIds:
    return build_positions(name, options)


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


def plain_layout() -> Layout:
    """42+39=81, reversed, no hints: ^240+930=180$."""
    addition = Addition(AdditionOptions(kind="addition"))
    operands = (np.array([[2, 4]], dtype=np.uint8), np.array([[9, 3]], dtype=np.uint8))
    format = Equation(FormatOptions(kind="equation", hints=0), addition)
    return format.write(addition.solve(operands), generator(0, "hints")).layout


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("sequential", {}, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        ("offset", {}, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
        ("digit-place", {}, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0]),
        ("coupled", {}, [0, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 0]),
        ("coupled", {"symbols": "after"}, [0, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4]),
        ("coupled", {"symbols": "around"}, [0, 2, 3, 4, 5, 2, 3, 4, 1, 2, 3, 4, 5]),
    ],
)
def test_the_worked_example_at_test(name: str, options: dict[str, Any], expected: list[int]) -> None:
    ids = build(name, **options).assign(plain_layout(), generator(0, "ids"), 1, training=False)
    assert ids.tolist() == [expected]


@pytest.mark.parametrize("name", ["offset", "digit-place", "coupled"])
def test_training_offsets_are_uniform_and_move_what_has_an_id(name: str) -> None:
    scheme, where = build(name, maximum=9, per="sequence"), plain_layout()
    still = scheme.assign(where, generator(0, "ids"), 1, training=False)
    moved = scheme.assign(where, generator(0, "ids"), 5000, training=True)
    shifts = moved[:, 1] - still[0, 1]  # column 1 is a digit
    expected = np.where(still > 0, still + shifts[:, None], 0) if name != "offset" else still + shifts[:, None]
    np.testing.assert_array_equal(moved, expected)
    assert abs(np.bincount(shifts, minlength=10) - 500).max() < 6 * np.sqrt(500)
    assert scheme.assign(where, generator(0, "ids"), 5, training=True).shape[0] == 5
    assert build(name).assign(where, generator(0, "ids"), 5, training=True).shape[0] == 1
    assert build(name, maximum=0).assign(where, generator(0, "ids"), 5, training=True).tolist() == still.tolist()


@pytest.mark.parametrize(
    ("name", "options"), [*((name, {}) for name in POSITIONS.names()), *(("coupled", {"symbols": s}) for s in SYMBOLS)]
)
@pytest.mark.parametrize("training", [True, False])
def test_highest_is_reached_and_never_passed(name: str, options: dict[str, Any], training: bool) -> None:
    maximum = {} if name == "sequential" else {"maximum": 40}
    scheme, where = build(name, **options, **maximum), plain_layout()
    seen = max(int(scheme.assign(where, generator(seed, "ids"), 1, training).max()) for seed in range(600))
    assert seen == scheme.highest(where, training)


def test_hints_share_the_id_of_their_digit_when_coupled_and_have_none_in_abacus() -> None:
    where = layout(2)
    coupled = build("coupled").assign(where, generator(0, "ids"), 1, False)[0]
    abacus = build("digit-place").assign(where, generator(0, "ids"), 1, False)[0]
    assert coupled[1] == coupled[2] == 2 and abacus[1] == 0 and abacus[2] == 1


@pytest.mark.parametrize("name", POSITIONS.names())
@pytest.mark.parametrize("symbols", SYMBOLS)
@pytest.mark.parametrize("padding", ["none", "longer", "carry"])
def test_the_ids_of_the_prompt_do_not_tell_the_answer(name: str, symbols: str, padding: str) -> None:
    """55 + 11 and 55 + 66 differ in the length of their answers, which a prompt must not show."""
    addition = Addition(AdditionOptions(kind="addition"))
    chosen = FormatOptions.model_validate({"kind": "equation", "hints": 0, "padding": padding})
    format = Equation(chosen, addition)
    fives, others = np.full((2, 2), 5, dtype=np.uint8), np.array([[1, 1], [6, 6]], dtype=np.uint8)
    options = {"symbols": symbols} if name == "coupled" else {}
    for order in ([0, 1], [1, 0]):
        where = format.write(addition.solve((fives, others[order])), generator(0, "hints")).layout
        ids = build(name, **options).assign(where, generator(0, "ids"), 2, training=False)
        assert (ids[:1, : where.answer] == ids[-1:, : where.answer]).all()


def test_late_ids_are_contiguous_first_and_spread_out_to_the_maximum() -> None:
    scheme, where = build("randomized", maximum=200, late=0.5), layout(3)
    contiguous = list(range(where.columns))

    def highest(share: float, training: bool = True) -> list[int]:
        chosen = scheme.settled(share)
        return [int(chosen.assign(where, generator(seed, "ids"), 1, training).max()) for seed in range(300)]

    assert scheme.settled(0).assign(where, generator(0, "ids"), 1, True).tolist() == [contiguous]
    halfway, done, later = highest(0.25), highest(0.5), highest(1)
    assert max(halfway) < where.columns + (200 - where.columns) / 2 < max(done) < 200
    assert done == later and min(done) < where.columns + 20  # narrow draws stay in the mix
    assert min(highest(0, training=False)) > where.columns + 20  # at test the whole range, as ever
    usual = build("randomized", maximum=200)
    assert usual.settled(0) is usual
