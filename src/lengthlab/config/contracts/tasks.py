"""Contracts of tasks."""

import numpy as np

from lengthlab.config.contracts import Contract, Options
from lengthlab.seeding import generator
from lengthlab.tasks import TASKS
from lengthlab.tasks.task import Task


def build(name: str, options: Options) -> Task:
    entry = TASKS[name]
    return entry.load()(entry.options_class(kind=name, **options))


def text(task: Task, row: list[int]) -> str:
    """Digits, place 0 first, as people write them: numbers without leading zeros, sequences as they are."""
    return "".join(map(str, row[::-1])).lstrip("0") or "0" if task.numeric else "".join(map(str, row))


def answers_are_the_oracle_s(name: str, options: Options, lengths: tuple[int, ...] = (1, 2, 7, 40)) -> None:
    task = build(name, options)
    for digits in lengths:
        problems = task.draw(generator(0, "test"), digits, 30)
        assert len(problems.operands) == task.operands, "a problem has `operands` operands"
        assert problems.answer.max() <= 9, "answers are digits"
        assert (problems.carries is not None) == task.has_carries, "carries are there if `has_carries` says so"
        for row, answer in enumerate(problems.answer.tolist()):
            operands = [text(task, operand[row].tolist()) for operand in problems.operands]
            assert text(task, answer) == task.oracle(*operands), f"{operands} -> {text(task, answer)}"


def the_same_seed_draws_the_same_problems(name: str, options: Options) -> None:
    first, again, other = (build(name, options).draw(generator(seed, "test"), 8, 50) for seed in (3, 3, 4))
    for mine, same in zip(first.numbers, again.numbers, strict=True):
        np.testing.assert_array_equal(mine, same)
    differs = [a.shape != b.shape or (a != b).any() for a, b in zip(first.operands, other.operands, strict=True)]
    assert any(differs), "another seed draws other problems"


def the_longest_operand_has_exactly_the_digits_asked_for(name: str, options: Options) -> None:
    task = build(name, options)
    for digits in (1, 2, 15):
        for seed in range(5):
            problems = task.draw(generator(seed, "test"), digits, 100)
            assert max(operand.shape[1] for operand in problems.operands) == digits
            if task.numeric:
                written = [[len(text(task, row)) for row in operand.tolist()] for operand in problems.operands]
                assert all(max(lengths) == digits for lengths in zip(*written, strict=True)), "no leading zeros"


def no_problem_is_wider_than_the_widest(name: str, options: Options) -> None:
    task = build(name, options)
    for digits in (1, 2, 9):
        widest = task.solve(task.widest(digits))
        for seed in range(10):
            problems = task.draw(generator(seed, "test"), digits, 5)
            for drawn, most in zip(problems.numbers, widest.numbers, strict=True):
                assert drawn.shape[1] <= most.shape[1]
            longest = max(len(text(task, row)) for row in problems.answer.tolist())
            assert longest <= len(text(task, widest.answer[0].tolist())), "without leading zeros too"


OF_TASKS: list[Contract] = [
    answers_are_the_oracle_s,
    the_same_seed_draws_the_same_problems,
    the_longest_operand_has_exactly_the_digits_asked_for,
    no_problem_is_wider_than_the_widest,
]
