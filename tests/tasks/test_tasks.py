"""Contracts of every registered task, and exactness of addition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthlab.seeding import generator
from lengthlab.tasks import TASKS
from lengthlab.tasks.addition import Addition, AdditionOptions
from lengthlab.tasks.task import Digits, Task

ORACLES = {"addition": lambda a, b: a + b}


def build(name: str) -> Task:
    task_class = TASKS[name].load()
    return task_class(task_class.options_class(kind=name))


def integers(digits: Digits) -> list[int]:
    """Rows of digits, units first, as Python integers."""
    return [int("".join(map(str, row[::-1]))) for row in digits.tolist()]


@pytest.mark.parametrize("name", TASKS.names())
@pytest.mark.parametrize("digits", [1, 2, 7, 40, 1000])
def test_answers_equal_pythons_integers(name: str, digits: int) -> None:
    problems = build(name).draw(generator(0, "test"), digits, 30)
    operands = [integers(operand) for operand in problems.operands]
    assert integers(problems.answer) == [ORACLES[name](*row) for row in zip(*operands, strict=True)]


@pytest.mark.parametrize("name", TASKS.names())
def test_same_seed_same_problems(name: str) -> None:
    first, again, other = (build(name).draw(generator(seed, "test"), 8, 50) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.answer, again.answer)
    assert (first.answer != other.answer).any()


@pytest.mark.parametrize("name", TASKS.names())
@pytest.mark.parametrize("digits", [1, 2, 15])
def test_longest_operand_has_exactly_the_digits_asked_for(name: str, digits: int) -> None:
    problems = build(name).draw(generator(0, "test"), digits, 500)
    lengths = np.array([[len(str(n)) for n in integers(operand)] for operand in problems.operands])
    assert (lengths.max(axis=0) == digits).all()


@given(st.lists(st.tuples(st.integers(0, 10**30 - 1), st.integers(0, 10**30 - 1)), min_size=1, max_size=20))
def test_addition_solves_given_operands(pairs: list[tuple[int, int]]) -> None:
    operands = tuple(
        np.array([[int(d) for d in str(pair[i]).zfill(30)[::-1]] for pair in pairs], dtype=np.uint8) for i in (0, 1)
    )
    assert integers(Addition(AdditionOptions(kind="addition")).solve(operands)) == [a + b for a, b in pairs]


def test_a_carry_runs_through_a_thousand_digits() -> None:
    nines, one = np.full((1, 1000), 9, dtype=np.uint8), np.zeros((1, 1000), dtype=np.uint8)
    one[0, 0] = 1
    assert integers(Addition(AdditionOptions(kind="addition")).solve((nines, one))) == [10**1000]


def test_operands_are_uniform_among_numbers_of_their_length() -> None:
    operand = build("addition").draw(generator(0, "test"), 2, 90_000).operands[0]
    counts = np.bincount(integers(operand), minlength=100)
    assert counts[:10].sum() == 0
    assert abs(counts[10:] - 1000).max() < 6 * np.sqrt(1000)  # six standard deviations
