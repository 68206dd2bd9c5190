"""Contracts of position ids."""

import numpy as np

from lengthlab.config.contracts import Contract, Options
from lengthlab.config.contracts.formats import build as build_format
from lengthlab.config.contracts.tasks import build as build_task
from lengthlab.formats.layout import Layout
from lengthlab.positions import POSITIONS
from lengthlab.positions.ids import PositionIds
from lengthlab.seeding import generator


def build(name: str, options: Options) -> PositionIds:
    entry = POSITIONS[name]
    return entry.load()(entry.options_class(kind=name, **options))


def layout(digits: int) -> Layout:
    """Of four sums in the paper's format."""
    addition = build_task("addition", {})
    format = build_format("equation", addition, {})
    return format.write(addition.draw(generator(0, "test"), digits, 4), generator(0, "hints")).layout


def ids_are_whole_numbers_from_0_and_follow_from_the_seed(name: str, options: Options) -> None:
    for digits in (1, 12):
        where = layout(digits)
        for training in (True, False):
            ids, again = (build(name, options).assign(where, generator(5, "ids"), 4, training) for _ in range(2))
            assert ids.shape in {(1, where.columns), (4, where.columns)}, "one row for all, or one for each"
            assert ids.dtype == np.int64 and ids.min() >= 0
            np.testing.assert_array_equal(ids, again)


def no_id_is_higher_than_the_highest(name: str, options: Options) -> None:
    scheme = build(name, options)
    for digits in (1, 6):
        where = layout(digits)
        for training in (True, False):
            seen = max(int(scheme.assign(where, generator(seed, "ids"), 4, training).max()) for seed in range(50))
            assert seen <= scheme.highest(where, training)


def the_prompt_s_ids_do_not_show_the_answer(name: str, options: Options) -> None:
    """55 + 11 and 55 + 66 differ in the length of their answers."""
    addition = build_task("addition", {})
    fives, others = np.full((2, 2), 5, dtype=np.uint8), np.array([[1, 1], [6, 6]], dtype=np.uint8)
    for padding in ("none", "longer", "carry"):
        format = build_format("equation", addition, {"hints": 0, "padding": padding})
        prompts = []
        for order in ([0, 1], [1, 0]):
            where = format.write(addition.solve((fives, others[order])), generator(0, "hints")).layout
            ids = build(name, options).assign(where, generator(0, "ids"), 2, training=False)
            prompts.append(np.broadcast_to(ids, (2, where.columns))[:, : where.answer])
        assert (prompts[0] == prompts[1]).all(), f"padding {padding}"


OF_POSITIONS: list[Contract] = [
    ids_are_whole_numbers_from_0_and_follow_from_the_seed,
    no_id_is_higher_than_the_highest,
    the_prompt_s_ids_do_not_show_the_answer,
]
