"""Contracts of every registered task, and exactness of addition."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lengthlab.errors import UserError
from lengthlab.seeding import generator
from lengthlab.tasks import TASKS
from lengthlab.tasks.addition import Addition, AdditionOptions
from lengthlab.tasks.task import Digits, Task

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "addition": [
        {},
        {"lengths": "independent"},
        {"operands": 3},
        {"operands": 11, "lengths": "independent"},
        {"operands": 25},
    ],
    "multiplication": [{}, {"second": 0}, {"second": 3}],
}
CASES = [
    pytest.param(name, options, id="-".join([name, *map(str, options.values())]))
    for name in TASKS.names()
    for options in VARIANTS.get(name, [{}])
]
every = pytest.mark.parametrize(("name", "options"), CASES)


def text(row: list[int]) -> str:
    return "".join(map(str, row))


def number(row: list[int]) -> int:
    """Digits, units first, as a Python integer."""
    return int(text(row[::-1]))


# Independent oracles: from operands (lists of digits, place 0 first) to what the answer must be.
ORACLES: dict[str, Callable[..., Any]] = {
    "addition": lambda *rows: sum(map(number, rows)),
    "subtraction": lambda a, b: number(a) - number(b),
    "multiplication": lambda a, b: number(a) * number(b),
    "copy": lambda a: text(a),
    "reverse": lambda a: "".join(reversed(text(a))),
    "sort": lambda a: "".join(sorted(text(a))),
    "parity": lambda a: str(text(a).count("1") % 2),
}


def build(name: str, **options: Any) -> Task:
    task_class = TASKS[name].load()
    return task_class(task_class.options_class(kind=name, **options))


def integers(digits: Digits) -> list[int]:
    return [number(row) for row in digits.tolist()]


@every
@pytest.mark.parametrize("digits", [1, 2, 7, 40, 1000])
def test_answers_equal_those_of_an_independent_oracle(name: str, options: dict[str, Any], digits: int) -> None:
    task = build(name, **options)
    if name == "multiplication" and digits == 1000 and options.get("second") == 0:
        digits = 200  # a million products a problem would take long
    problems = task.draw(generator(0, "test"), digits, 30)
    assert len(problems.operands) == task.operands
    rows = zip(*(operand.tolist() for operand in problems.operands), strict=True)
    answers = problems.answer.tolist()
    assert [number(row) if task.numeric else text(row) for row in answers] == [ORACLES[name](*row) for row in rows]
    assert problems.answer.max() <= 9
    assert (problems.carries is not None) == task.has_carries


@every
def test_same_seed_same_problems(name: str, options: dict[str, Any]) -> None:
    first, again, other = (build(name, **options).draw(generator(seed, "test"), 8, 50) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.answer, again.answer)
    assert first.answer.shape != other.answer.shape or (first.answer != other.answer).any()


@every
@pytest.mark.parametrize("digits", [1, 2, 15])
def test_longest_operand_has_exactly_the_digits_asked_for(name: str, options: dict[str, Any], digits: int) -> None:
    task = build(name, **options)
    for seed in range(5):
        problems = task.draw(generator(seed, "test"), digits, 100)
        assert max(operand.shape[1] for operand in problems.operands) == digits
        if task.numeric:
            lengths = np.array([[len(str(n)) for n in integers(operand)] for operand in problems.operands])
            assert (lengths.max(axis=0) == digits).all()


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


@every
@pytest.mark.parametrize("digits", [1, 2, 9])
def test_no_problem_is_wider_than_the_widest(name: str, options: dict[str, Any], digits: int) -> None:
    task = build(name, **options)
    widest = task.solve(task.widest(digits))
    for seed in range(10):
        problems = task.draw(generator(seed, "test"), digits, 5)
        assert problems.answer.shape[1] <= widest.answer.shape[1]
        assert all(o.shape[1] <= w.shape[1] for o, w in zip(problems.operands, widest.operands, strict=True))
        if task.numeric:  # without leading zeros too
            assert max(map(len, map(str, integers(problems.answer)))) <= len(str(integers(widest.answer)[0]))


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
