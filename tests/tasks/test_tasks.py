"""Exactness of addition, carries and drawing (the contracts of all tasks are in `lengthlab.config.contracts`)."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthlab.batches import Pipeline
from lengthlab.config.checks import require_problems
from lengthlab.config.contracts.tasks import answers_are_the_oracle_s
from lengthlab.config.contracts.tasks import build as build_task
from lengthlab.config.load import load_config
from lengthlab.errors import UserError
from lengthlab.seeding import generator
from lengthlab.tasks import TASKS, adds_two_numbers
from lengthlab.tasks.addition import Addition, AdditionOptions
from lengthlab.tasks.task import Digits, Task


def number(row: list[int]) -> int:
    """Digits, units first, as a Python integer."""
    return int("".join(map(str, row[::-1])))


def build(name: str, **options: Any) -> Task:
    return build_task(name, options)


@pytest.mark.parametrize("name", TASKS.names())
@pytest.mark.parametrize("digits", [200, 1000])
def test_long_answers_are_exact_too(name: str, digits: int) -> None:
    answers_are_the_oracle_s(name, {}, (digits,))


def integers(digits: Digits) -> list[int]:
    return [number(row) for row in digits.tolist()]


def test_subtraction_puts_the_larger_number_first() -> None:
    problems = build("subtraction").draw(generator(0, "test"), 2, 500)
    pairs = list(zip(*map(integers, problems.operands), strict=True))
    assert all(a >= b for a, b in pairs) and any(a == b for a, b in pairs)


def test_independent_lengths_vary_on_both_sides() -> None:
    task = build("addition", lengths="independent")
    shapes = {tuple(o.shape[1] for o in task.draw(generator(seed, "test"), 5, 1).operands) for seed in range(200)}
    assert shapes == {(5, k) for k in range(1, 6)} | {(k, 5) for k in range(1, 6)}


def test_carries_are_what_each_place_hands_on() -> None:
    problems = build("addition", operands=3).draw(generator(0, "test"), 6, 50)
    assert problems.carries is not None
    for row in range(50):
        carry = 0
        for place in range(problems.answer.shape[1]):
            total = carry + sum(int(o[row, place]) if place < 6 else 0 for o in problems.operands)
            carry = total // 10
            assert problems.carries[row, place] == carry and problems.answer[row, place] == total % 10


@pytest.mark.parametrize(("digits", "chain"), [(1, 1), (5, 1), (5, 3), (5, 5), (40, 30)])
def test_a_carry_runs_through_exactly_the_places_asked_for(digits: int, chain: int) -> None:
    problems = build("addition").draw_carry_chain(generator(0, "test"), digits, 300, chain)
    a, b = (operand.astype(int) for operand in problems.operands)
    assert integers(problems.answer) == [x + y for x, y in zip(integers(a), integers(b), strict=True)]
    assert problems.carries is not None
    assert (problems.carries.sum(axis=1) == chain).all()  # one carry in all, and this long
    starts = (np.diff(problems.carries.astype(int), axis=1, prepend=0) == 1).sum(axis=1)
    assert (starts == 1).all()
    assert all(len(str(n)) == digits for operand in (a, b) for n in integers(operand))
    assert len(np.unique(problems.carries.argmax(axis=1))) == digits - chain + 1  # anywhere it fits


def test_carry_chains_are_for_sums_of_two() -> None:
    for name, options, chain in [
        ("copy", {}, 1),
        ("addition", {"operands": 3}, 1),
        ("addition", {}, 6),
        ("addition", {}, 0),
    ]:
        with pytest.raises(UserError, match=r"evaluation\.chain"):
            build(name, **options).draw_carry_chain(generator(0, "test"), 5, 3, chain)


@given(st.lists(st.tuples(st.integers(0, 10**30 - 1), st.integers(0, 10**30 - 1)), min_size=1, max_size=20))
def test_addition_solves_given_operands(pairs: list[tuple[int, int]]) -> None:
    operands = tuple(
        np.array([[int(d) for d in str(pair[i]).zfill(30)[::-1]] for pair in pairs], dtype=np.uint8) for i in (0, 1)
    )
    assert integers(Addition(AdditionOptions(kind="addition")).solve(operands).answer) == [a + b for a, b in pairs]


def test_a_carry_runs_through_a_thousand_digits() -> None:
    nines, one = np.full((1, 1000), 9, dtype=np.uint8), np.zeros((1, 1000), dtype=np.uint8)
    one[0, 0] = 1
    assert integers(Addition(AdditionOptions(kind="addition")).solve((nines, one)).answer) == [10**1000]


def test_operands_are_uniform_among_numbers_of_their_length() -> None:
    operand = build("addition").draw(generator(0, "test"), 2, 90_000).operands[0]
    counts = np.bincount(integers(operand), minlength=100)
    assert counts[:10].sum() == 0
    assert abs(counts[10:] - 1000).max() < 6 * np.sqrt(1000)  # six standard deviations


@pytest.mark.parametrize("sparse", [False, True])
def test_symmetric_sums_add_a_number_to_itself(sparse: bool) -> None:
    problems = build("addition").draw_symmetric(generator(0, "test"), 6, 300, sparse)
    a, b = problems.operands
    assert np.array_equal(a, b) and a.shape == (300, 6)
    filled = (a > 0).sum(axis=1)
    assert (filled == 1).all() if sparse else filled.mean() > 5
    assert set((a > 0).argmax(axis=1)) == set(range(6)) or not sparse  # anywhere
    values = [2 * int("".join(map(str, row[::-1]))) for row in a.tolist()]
    assert [int("".join(map(str, row[::-1]))) for row in problems.answer.tolist()] == values


def test_symmetric_sums_are_for_addition_and_leave_no_room_for_chains() -> None:
    with pytest.raises(UserError, match=r"evaluation\.operands: only addition"):
        build("copy").draw_symmetric(generator(0, "test"), 5, 3, sparse=False)
    pipeline = Pipeline(load_config("smoke", ["evaluation.operands=sparse"]))
    problems, _ = next(pipeline.test_batches(4, 3))
    assert problems.count == 3 and (problems.operands[0] > 0).sum() == 3
    with pytest.raises(UserError, match=r"evaluation\.operands: a carry chain chooses the operands itself"):
        require_problems(pipeline, 4, chain=2)


def test_which_tasks_add_two_numbers() -> None:
    adding = [
        name for name in TASKS.names() if adds_two_numbers(load_config("smoke", [f"task={name}"]).task.model_dump())
    ]
    assert adding == ["addition"]
    assert adds_two_numbers({"kind": "addition"}) and not adds_two_numbers({"kind": "addition", "operands": 3})
