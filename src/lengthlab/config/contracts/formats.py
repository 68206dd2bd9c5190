"""Contracts of formats, with every registered task."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from lengthlab.config.contracts import Contract, Options
from lengthlab.config.contracts.tasks import build as build_task
from lengthlab.config.contracts.tasks import text
from lengthlab.errors import UserError
from lengthlab.formats import FORMATS
from lengthlab.formats.format import Format
from lengthlab.formats.layout import DIGIT, HINT
from lengthlab.formats.vocabulary import END, PAD
from lengthlab.seeding import generator
from lengthlab.tasks import TASKS
from lengthlab.tasks.task import Problems, Task

ORDERS = ("reversed", "standard", "answer-reversed")
PADDINGS = ("carry", "longer", "none", 12)
SPACES = ({"probability": 0.0}, {"probability": 0.3}, {"probability": 0.3, "within": "all"})


def build(name: str, task: Task, options: Options) -> Format:
    entry = FORMATS[name]
    return entry.load()(entry.options_class(kind=name, **options), task)


def sensible(name: str, options: Options) -> Iterator[Format]:
    """The format with every task and common option, but for what it refuses, which must come with a reason."""
    for task, order, hints, padding, spaces in product(TASKS.names(), ORDERS, (0, 14), PADDINGS, SPACES):
        common = {"order": order, "hints": hints, "padding": padding, "spaces": spaces}
        try:
            yield build(name, build_task(task, {}), common | options)
        except UserError as error:
            assert str(error).startswith("format.") and "use " in str(error), f"a refusal names a way out: {error}"


def is_read_back(format: Format, problems: Problems, seed: int) -> None:
    """What is written is read, whole rows and answers alone, as tokens and as text."""
    written = format.write(problems, generator(seed, "hints"))
    for index, row in enumerate(written.tokens.tolist()):
        expected = [text(format.task, n[index].tolist()) for n in (*problems.operands, problems.answer)]
        reading = format.read(row)
        assert reading is not None and [*reading.operands, reading.answer] == expected, f"{expected} is read {reading}"
        assert format.read_answer(row[written.layout.answer :]) == reading.answer
        assert format.vocabulary.tokens(format.vocabulary.text(row)) == row


def has_exact_places(format: Format, problems: Problems) -> None:
    """The answer begins after `=`, ends once, and the layout says of every token what it is."""
    written = format.write(problems, generator(0, "hints"))
    layout, shape = written.layout, written.tokens.shape
    assert (written.tokens[:, layout.answer - 1] == format.equals).all(), "the answer follows ="
    role, place, segment = (np.broadcast_to(x, shape) for x in (layout.role, layout.place, layout.segment))
    for row, tokens in enumerate(written.tokens.tolist()):
        assert tokens.count(END) == 1 and all(token == PAD for token in tokens[tokens.index(END) + 1 :])
        of_hint: dict[int, int] = {}
        for column, token in enumerate(tokens):
            where, number = int(place[row, column]), problems.numbers[segment[row, column]]
            if role[row, column] == DIGIT:
                assert token == (number[row, where] if where < number.shape[1] else 0), "a digit stands at its place"
            elif role[row, column] == HINT:
                assert token >= format.vocabulary.first_hint and of_hint.setdefault(token, where) == where
            else:
                assert token > 9, "only digits have the role of digits"


def fits_the_widest(format: Format, digits: int, seed: int) -> None:
    """No row has more columns than `widest` says."""
    drawn = format.task.draw(generator(seed, "test"), digits, 9)
    for training in (True, False):
        columns = format.write(drawn, generator(seed, "hints"), training).layout.columns
        assert columns <= format.widest(digits, training).columns


def what_is_written_is_read_back(name: str, options: Options) -> None:
    for format in sensible(name, options):
        task = format.task
        zero = tuple(np.zeros((1, 1), dtype=np.uint8) for _ in range(task.operands))
        drawn = (task.draw(generator(0, "test"), digits, 3) for digits in (1, 2, 9))
        for problems in (*drawn, task.solve(task.widest(9)), task.solve(zero)):
            is_read_back(format, problems, 0)


def the_layout_is_exact(name: str, options: Options) -> None:
    for format in sensible(name, options):
        for digits in (1, 2, 9):
            has_exact_places(format, format.task.draw(generator(0, "test"), digits, 3))


def no_row_is_longer_than_the_widest(name: str, options: Options) -> None:
    for seed, format in enumerate(sensible(name, options)):
        for digits in (1, 2, 7):
            fits_the_widest(format, digits, seed)


OF_FORMATS: list[Contract] = [
    what_is_written_is_read_back,
    the_layout_is_exact,
    no_row_is_longer_than_the_widest,
]
