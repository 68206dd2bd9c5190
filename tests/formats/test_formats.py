"""Formats under every option: round trip, answer span, places, hints."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lengthlab.config.contracts.formats import fits_the_widest, has_exact_places, is_read_back
from lengthlab.config.contracts.tasks import build as build_task
from lengthlab.errors import UserError
from lengthlab.formats import FORMATS
from lengthlab.formats.format import Format, FormatOptions
from lengthlab.formats.vocabulary import BEGIN, END, PAD, SPACE, Vocabulary, hint_text
from lengthlab.seeding import generator
from lengthlab.tasks import TASKS
from lengthlab.tasks.addition import Addition, AdditionOptions
from lengthlab.tasks.task import Problems, Task

ADDITION = Addition(AdditionOptions(kind="addition"))


def build(name: str = "equation", **options: Any) -> Format:
    return FORMATS[name].load()(FormatOptions(kind=name, **options), ADDITION)


def sums(*pairs: tuple[int, int]) -> Problems:
    """Given sums, all operands as long as the longest."""
    longest = max(len(str(n)) for pair in pairs for n in pair)
    operands = tuple(
        np.array([[int(d) for d in str(pair[i]).zfill(longest)[::-1]] for pair in pairs], dtype=np.uint8)
        for i in (0, 1)
    )
    return ADDITION.solve(operands)


def text(format: Format, *pairs: tuple[int, int]) -> list[str]:
    written = format.write(sums(*pairs), generator(0, "hints"))
    return [format.vocabulary.text(row) for row in written.tokens.tolist()]


def task_of(name: str, **options: Any) -> Task:
    return build_task(name, options)


tasks = st.one_of(
    [st.just((name, {})) for name in TASKS.names()]
    + [
        st.just(("addition", {"lengths": "independent"})),
        st.just(("addition", {"operands": 3, "lengths": "independent"})),
        st.just(("multiplication", {"second": 2})),
    ]
)
options = st.fixed_dictionaries(
    {
        "order": st.sampled_from(["reversed", "standard", "answer-reversed"]),
        "hints": st.sampled_from([0, 1010, 1100]),
        "padding": st.sampled_from(["carry", "longer", "none", 1005]),
        "spaces": st.fixed_dictionaries(
            {"probability": st.sampled_from([0.0, 0.0, 0.3]), "within": st.sampled_from(["question", "all"])}
        ),
    }
)
digits = st.sampled_from([1, 2, 3, 9, 60, 500])


def build_if_sensible(name: str, task: Task, options: dict[str, Any]) -> Format:
    """The format, unless this combination is refused, which must come with a reason."""
    try:
        return FORMATS[name].load()(FormatOptions(kind=name, **options), task)
    except UserError as error:
        assert str(error).startswith("format.") and "use " in str(error)
        assume(False)
        raise


@pytest.mark.parametrize("name", FORMATS.names())
@given(task=tasks, options=options, digits=digits, seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_what_is_written_is_read_back(
    name: str, task: tuple[str, dict[str, Any]], options: dict[str, Any], digits: int, seed: int
) -> None:
    chosen = task_of(task[0], **task[1])
    format = build_if_sensible(name, chosen, options)
    zero = tuple(np.zeros((1, 1), dtype=np.uint8) for _ in range(chosen.operands))
    ends = (chosen.solve(chosen.widest(digits)), chosen.solve(zero))  # 9...9 (or what is widest), and 0
    for problems in (chosen.draw(generator(seed, "test"), digits, 5), *ends):
        is_read_back(format, problems, seed)


@pytest.mark.parametrize("name", FORMATS.names())
@given(task=tasks, options=options, digits=st.sampled_from([1, 2, 3, 9, 30]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_the_answer_span_and_the_places_are_exact(
    name: str, task: tuple[str, dict[str, Any]], options: dict[str, Any], digits: int
) -> None:
    chosen = task_of(task[0], **task[1])
    format = build_if_sensible(name, chosen, options)
    has_exact_places(format, chosen.draw(generator(0, "test"), digits, 6))


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        ("interleaved", {"hints": 0}, "^29,43,00=180$"),
        ("interleaved", {"hints": 3}, "^a2a9,b4b3,c0c0=a1b8c0$"),
        ("interleaved", {"hints": 0, "order": "standard", "padding": "none"}, "^43,29=81$."),
        ("scratchpad", {"hints": 0}, "^240+930=1/18/00/0$"),
        ("scratchpad", {"hints": 3}, "^a2b4c0+a9b3c0=a1/1b8/0c0/0$"),
        ("scratchpad", {"hints": 0, "order": "answer-reversed", "padding": "none"}, "^42+39=1/18/0$..."),
        ("equation", {"hints": 0, "order": "answer-reversed"}, "^042+039=180$"),
        ("equation", {"hints": 3, "order": "answer-reversed"}, "^a0b4c2+a0b3c9=c1b8a0$"),
        ("equation", {"hints": 0, "padding": 5}, "^24000+93000=18000$"),
    ],
)
def test_other_arrangements_of_the_same_sum(kind: str, options: dict[str, Any], expected: str) -> None:
    assert text(build(kind, **options), (42, 39)) == [expected]


def test_operands_of_unequal_length_are_padded_as_asked() -> None:
    operands = (np.array([[5, 1, 2]], dtype=np.uint8), np.array([[7]], dtype=np.uint8))  # 215 + 7
    problems = ADDITION.solve(operands)

    def written(padding: str) -> str:
        format = build(hints=0, order="standard", padding=padding)
        return format.vocabulary.text(format.write(problems, generator(0, "hints")).tokens[0].tolist())

    assert written("none") == "^215+7=222$."
    assert written("longer") == "^215+007=222$."
    assert written("carry") == "^0215+0007=0222$"


@pytest.mark.parametrize(
    ("kind", "task", "options", "reason"),
    [
        ("interleaved", "copy", {}, "format.kind: interleaving needs at least two operands; use equation"),
        ("scratchpad", "multiplication", {}, "format.kind: a scratchpad writes carries"),
        (
            "interleaved",
            "addition",
            {"spaces": {"probability": 0.1}},
            "format.spaces.probability: interleaved operands",
        ),
        (
            "scratchpad",
            "addition",
            {"spaces": {"probability": 0.1, "within": "all"}},
            "format.spaces.within: a scratchpad has no gaps",
        ),
        ("scratchpad", "addition", {"order": "standard"}, "format.order: carries are known from the units up"),
    ],
)
def test_combinations_that_make_no_sense_are_refused(
    kind: str, task: str, options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(UserError) as raised:
        FORMATS[kind].load()(FormatOptions(kind=kind, **options), task_of(task))
    assert str(raised.value).startswith(reason)


def test_a_fixed_width_that_is_too_small_is_refused_with_the_width_needed() -> None:
    with pytest.raises(UserError, match=r"format\.padding: 3 places cannot hold 5; set at least 5"):
        build(hints=0, padding=3).write(ADDITION.draw(generator(0, "test"), 4, 1), generator(0, "hints"))


@pytest.mark.parametrize("within", ["question", "all"])
def test_spaces_fall_between_digits_with_their_probability(within: str) -> None:
    format = build(hints=0, spaces={"probability": 0.25, "within": within})
    rng = generator(0, "spaces")
    counts, positions = [], set()
    for _ in range(300):
        written = format.write(ADDITION.draw(rng, 5, 4), rng)
        for row in written.tokens:
            texts = format.vocabulary.text(row.tolist())
            assert not {"+_", "_+", "_=", "=_", "_$", "__", "^_"} & {texts[i : i + 2] for i in range(len(texts))}
            question, answer = texts.split("=")
            assert within == "all" or "_" not in answer
            counts.append((question.count("_"), answer.count("_")))
            positions.update(i for i, c in enumerate(question) if c == "_")
    gaps = 2 * 5  # six digits in each operand
    assert abs(np.mean([q for q, _ in counts]) / gaps - 0.25) < 0.05
    assert abs(np.mean([a for _, a in counts]) / 5 - (0.25 if within == "all" else 0)) < 0.05
    assert len(positions) > 8


def test_spaces_are_for_training_unless_asked_for_at_test() -> None:
    problems = ADDITION.draw(generator(0, "test"), 20, 4)
    for at_test in (False, True):
        format = build(hints=0, spaces={"probability": 0.5, "at_test": at_test})
        assert (format.write(problems, generator(0, "x"), training=False).tokens == SPACE).any() == at_test
        assert (format.write(problems, generator(0, "x"), training=True).tokens == SPACE).any()


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


def test_a_ring_of_hints_meets_all_of_them_equally_often() -> None:
    format = build(hints=5, hint_order="ring")
    written = format.write(ADDITION.draw(generator(0, "test"), 2, 3000), generator(0, "hints"))
    runs = (written.tokens[format.vocabulary.is_hint(written.tokens)] - format.vocabulary.first_hint).reshape(-1, 3, 3)
    assert (runs == runs[:, :1]).all()
    assert (np.diff(runs, axis=2) % 5 == 1).all()
    assert abs(np.bincount(runs.flatten()) / runs.size - 1 / 5).max() < 0.03
    row = written.tokens[np.flatnonzero(runs[:, 0, 0] == 4)[0]].tolist()
    assert format.read(row) is not None  # what is written with a run that passes the last hint is read


@pytest.mark.parametrize("order", ["line", "ring"])
def test_hints_jump_once_in_a_share_of_training_problems_and_never_at_test(order: str) -> None:
    format = build(hints=12, hint_order=order, hint_jumps=0.5)

    def runs(training: bool) -> np.ndarray:
        written = format.write(ADDITION.draw(generator(0, "test"), 3, 3000), generator(0, "hints"), training)
        assert all(format.read(row) is not None for row in written.tokens[:50].tolist())
        hints = written.tokens[format.vocabulary.is_hint(written.tokens)] - format.vocabulary.first_hint
        numbers = hints.reshape(-1, 3, 4)  # rows, numbers, places
        assert (numbers == numbers[:, :1]).all()
        return numbers[:, 0]

    assert (np.diff(runs(training=False)) % 12 == 1).all()
    trained = runs(training=True)
    assert all(len(set(run)) == 4 for run in trained.tolist())
    jumps = np.diff(trained) % 12 != 1
    assert jumps.sum(axis=1).max() == 1
    assert (jumps.mean(axis=0) > 0.05).all()  # anywhere
    assert 0.3 < jumps.any(axis=1).mean() < 0.5  # half of them, less those that jump by nothing
    apart = {(int(a), int(b)) for run in trained.tolist() for a in run for b in run if a < b}
    assert len(apart) == 12 * 11 / 2  # every two hints meet


def test_too_few_hints_are_refused_with_the_number_needed() -> None:
    with pytest.raises(UserError, match=r"format\.hints: 3 hints cannot mark 5 places; set at least 5"):
        build(hints=3).write(ADDITION.draw(generator(0, "test"), 4, 1), generator(0, "hints"))


@pytest.mark.parametrize("broken", ["^24+93=18", "24+93=18$", "^24+93=1+8$", "^24+93$", "^24+93=$", "^2^4+93=18$"])
def test_malformed_rows_are_not_read(broken: str) -> None:
    format = build(hints=0)
    assert format.read(format.vocabulary.tokens(broken)) is None


def test_a_number_with_hints_out_of_step_is_not_read() -> None:
    format = build(hints=4)
    assert format.number(format.vocabulary.tokens("a1b2"), units_first=True) == "21"
    assert format.number(format.vocabulary.tokens("a1b2c"), units_first=True) is None
    assert format.number(format.vocabulary.tokens("1a2b"), units_first=True) is None


def test_tokens_print_and_parse() -> None:
    vocabulary = Vocabulary(("=", "+"), 60)
    assert [hint_text(i) for i in (0, 25, 26, 52)] == ["a", "z", "a'", "a''"]
    tokens = list(range(len(vocabulary)))
    assert vocabulary.tokens(vocabulary.text(tokens)) == tokens
    assert vocabulary.text([BEGIN, 4, END, PAD]) == "^4$."
    with pytest.raises(UserError, match="not a token"):
        vocabulary.tokens("?")


@pytest.mark.parametrize("name", FORMATS.names())
@given(task=tasks, options=options, digits=st.sampled_from([1, 2, 7]), seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_no_row_is_longer_than_the_widest(
    name: str, task: tuple[str, dict[str, Any]], options: dict[str, Any], digits: int, seed: int
) -> None:
    chosen = task_of(task[0], **task[1])
    format = build_if_sensible(name, chosen, options)
    fits_the_widest(format, digits, seed)
