"""Contracts of every registered format under every option: round trip, answer span, places, hints."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthlab.errors import UserError
from lengthlab.formats import FORMATS
from lengthlab.formats.format import Format, FormatOptions
from lengthlab.formats.vocabulary import BEGIN, END, PAD, Vocabulary, hint_text
from lengthlab.seeding import generator
from lengthlab.tasks.addition import Addition, AdditionOptions
from lengthlab.tasks.task import Problems

ADDITION = Addition(AdditionOptions(kind="addition"))


def build(name: str = "equation", **options: Any) -> Format:
    return FORMATS[name].load()(FormatOptions(kind=name, **options), "+")


def sums(*pairs: tuple[int, int]) -> Problems:
    """Given sums, all operands as long as the longest."""
    longest = max(len(str(n)) for pair in pairs for n in pair)
    operands = tuple(
        np.array([[int(d) for d in str(pair[i]).zfill(longest)[::-1]] for pair in pairs], dtype=np.uint8)
        for i in (0, 1)
    )
    return Problems(operands, ADDITION.solve(operands))


def text(format: Format, *pairs: tuple[int, int]) -> list[str]:
    written = format.write(sums(*pairs), generator(0, "hints"))
    return [format.vocabulary.text(row) for row in written.tokens.tolist()]


options = st.fixed_dictionaries(
    {
        "order": st.sampled_from(["reversed", "standard"]),
        "hints": st.sampled_from([0, 502, 600]),
        "padding": st.sampled_from(["carry", "none"]),
    }
)
digits = st.sampled_from([1, 2, 3, 9, 60, 500])


@pytest.mark.parametrize("name", FORMATS.names())
@given(options=options, digits=digits, seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read_back(name: str, options: dict[str, Any], digits: int, seed: int) -> None:
    format = build(name, **options)
    problems = ADDITION.draw(generator(seed, "test"), digits, 5)
    written = format.write(problems, generator(seed, "hints"))
    for index, row in enumerate(written.tokens.tolist()):
        reading = format.read(row)
        assert reading is not None
        operands = [int("".join(map(str, operand[index][::-1].tolist()))) for operand in problems.operands]
        assert [int(operand) for operand in reading.operands] == operands
        assert int(reading.answer) == sum(operands)
        assert format.read_answer(row[written.layout.answer :]) == reading.answer


@pytest.mark.parametrize("name", FORMATS.names())
@given(options=options, digits=digits)
@settings(max_examples=40, deadline=None)
def test_the_answer_span_and_the_places_are_exact(name: str, options: dict[str, Any], digits: int) -> None:
    format = build(name, **options)
    problems = ADDITION.draw(generator(0, "test"), digits, 6)
    written = format.write(problems, generator(0, "hints"))
    layout, rows = written.layout, len(written.tokens)
    assert (written.tokens[:, layout.answer - 1] == format.equals).all()
    place = np.broadcast_to(layout.place, written.tokens.shape)
    segment = np.broadcast_to(layout.segment, written.tokens.shape)
    numbers = (*problems.operands, problems.answer)
    for row in range(rows):
        assert list(written.tokens[row]).count(END) == 1
        for token, where, number in zip(written.tokens[row], place[row], segment[row], strict=True):
            if token <= 9:  # a digit stands at its own place of its own number
                width = numbers[number].shape[1]
                assert token == (numbers[number][row, where] if where < width else 0)
            elif not format.vocabulary.is_hint(token):
                assert where == -1


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"order": "standard", "hints": 0}, "^042+039=081$"),
        ({"order": "reversed", "hints": 0}, "^240+930=180$"),
        ({"order": "standard", "hints": 0, "padding": "none"}, "^42+39=81$."),
        ({"order": "reversed", "hints": 0, "padding": "none"}, "^24+93=18$."),
        ({"order": "standard", "hints": 3}, "^a0b4c2+a0b3c9=a0b8c1$"),
        ({"order": "reversed", "hints": 3}, "^a2b4c0+a9b3c0=a1b8c0$"),
        ({"order": "standard", "hints": 3, "padding": "none"}, "^b4c2+b3c9=b8c1$.."),
    ],
)
def test_the_paper_s_example(options: dict[str, Any], expected: str) -> None:
    assert text(build(**options), (42, 39)) == [expected]


def test_zero_keeps_one_digit_and_a_carry_keeps_its_place() -> None:
    format = build(hints=0, padding="none")
    assert text(format, (0, 0), (9, 9)) == ["^0+0=0$.", "^9+9=81$"]


def test_hints_are_a_uniform_run_and_agree_in_all_numbers() -> None:
    format = build(hints=5)
    written = format.write(ADDITION.draw(generator(0, "test"), 2, 3000), generator(0, "hints"))
    hints = np.where(format.vocabulary.is_hint(written.tokens), written.tokens - format.vocabulary.first_hint, -1)
    runs = hints[hints >= 0].reshape(3000, 3, 3)  # rows, numbers, places
    assert (runs == runs[:, :1]).all()
    assert (np.diff(runs, axis=2) == 1).all()
    counts = np.bincount(runs[:, 0, 0], minlength=5)
    assert counts[3:].sum() == 0
    assert abs(counts[:3] - 1000).max() < 6 * np.sqrt(1000)


def test_too_few_hints_are_refused_with_the_number_needed() -> None:
    with pytest.raises(UserError, match=r"format\.hints: 3 hints cannot mark 5 places; set at least 5"):
        build(hints=3).write(ADDITION.draw(generator(0, "test"), 4, 1), generator(0, "hints"))


@pytest.mark.parametrize("broken", ["^24+93=18", "24+93=18$", "^24+93=1+8$", "^24+93$", "^24+93=$", "^2^4+93=18$"])
def test_malformed_rows_are_not_read(broken: str) -> None:
    format = build(hints=0)
    assert format.read(format.vocabulary.tokens(broken)) is None


def test_a_number_with_hints_out_of_step_is_not_read() -> None:
    format = build(hints=4)
    assert format.number(format.vocabulary.tokens("a1b2")) == "21"
    assert format.number(format.vocabulary.tokens("a1b2c")) is None
    assert format.number(format.vocabulary.tokens("1a2b")) is None


def test_tokens_print_and_parse() -> None:
    vocabulary = Vocabulary(("=", "+"), 60)
    assert [hint_text(i) for i in (0, 25, 26, 52)] == ["a", "z", "a'", "a''"]
    tokens = list(range(len(vocabulary)))
    assert vocabulary.tokens(vocabulary.text(tokens)) == tokens
    assert vocabulary.text([BEGIN, 4, END, PAD]) == "^4$."
    with pytest.raises(UserError, match="not a token"):
        vocabulary.tokens("?")
