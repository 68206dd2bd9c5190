"""YAML from anywhere: plain data comes out, or one short reason, and never anything else."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lengthlab.config.yaml_text import NotYaml, parse_yaml

BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ("[" * 200_000, "more than 50 lists or mappings within each other", 1),  # libyaml's own composer crashes
        ("{a: " * 200_000, "more than 50 lists", 1),
        ("a:\n  " + "- " * 200_000, "more than 50 lists", 2),
        (BOMB, "more than 100,000 values", 5),
        ("&a [*a]", "*a repeats what is not there yet", 1),
        ("x" * 1_000_001, "1,000,001 characters, at most 1,000,000 are read", None),
        ("9" * 5_000, "a number of 5,000 characters", 1),
        ("0x" + "f" * 5_000, "a number of 5,002 characters", 1),
        ("!!set {a, b}", "could not determine a constructor", 1),
        ("!!binary aGk=", "could not determine a constructor", 1),
        ("!!python/object/apply:os.system ['true']", "could not determine a constructor", 1),
        ("a: 1\nb: [", "did not find expected node content", 3),
        ("0x_", "a value cannot be read", None),
        ("!!int abc", "a value cannot be read", None),
        ("!!bool abc", "a value cannot be read", None),
        ("\udcff", "a value cannot be read", None),
        ("\x00", "cannot be read", None),
    ],
)
def test_harmful_and_broken_texts_are_refused_in_a_few_words(text: str, reason: str, line: int | None) -> None:
    with pytest.raises(NotYaml) as raised:
        parse_yaml(text)
    assert str(raised.value).startswith(reason) and raised.value.line == line


def test_dates_are_text_and_a_few_aliases_are_welcome() -> None:
    assert parse_yaml("[2024-01-31, 2024-13-45, !!timestamp abc]") == ["2024-01-31", "2024-13-45", "abc"]
    assert parse_yaml("a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}") == {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": 2}}


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(plain)
def test_plain_data_comes_back(value: Any) -> None:
    assert parse_yaml(yaml.safe_dump(value)) == value


@given(st.text(alphabet=st.sampled_from("[]{}:,-&*!|>'\"#%@?<=~ \n\t0123456789abxe._\x00\udcff"), max_size=60))
def test_any_text_is_data_or_not_yaml(text: str) -> None:
    try:
        value = parse_yaml(text)
    except NotYaml as error:
        assert str(error)
    else:
        assert value is None or isinstance(value, bool | int | float | str | list | dict)
