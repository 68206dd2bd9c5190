"""An encoding by itself, in somebody else's model: built, called, and what is said of a mistake."""

from typing import Any

import pytest
import torch

import lengthlab as ll
from lengthlab.encodings import ENCODINGS
from lengthlab.encodings.encoding import Encoding

POSITIONS = torch.arange(5)
Wrong = Any  # calls that type checkers refuse too


@pytest.mark.parametrize("name", ENCODINGS.names())
def test_ids_may_be_a_row_wherever_an_encoding_is_called_by_itself(name: str) -> None:
    encoding = ENCODINGS[name].load().build(heads=2, head_width=8)
    q = k = torch.randn(1, 2, 5, 8)
    x = torch.randn(1, 5, 16)
    batch = POSITIONS[None]
    assert torch.equal(encoding.embed(x, POSITIONS), encoding.embed(x, batch))
    turned, expected = encoding.rotate(q, k, POSITIONS, POSITIONS), encoding.rotate(q, k, batch, batch)
    assert torch.equal(turned[0], expected[0]) and torch.equal(turned[1], expected[1])


@pytest.mark.parametrize("name", ["fire", "alibi", "shaw", "rope"])
def test_an_encoding_that_is_called_as_a_class_says_how_it_is_built(name: str) -> None:
    encoding_class: Wrong = ENCODINGS[name].load()
    for mistake in ((), (8,)):
        with pytest.raises(
            TypeError, match=rf"^{encoding_class.__name__}: .* {encoding_class.__name__}\.build\(heads=8\)"
        ):
            encoding_class(*mistake)
    with pytest.raises(TypeError, match=rf"{encoding_class.__name__}\.build\(heads=8\)"):
        encoding_class(heads=8)


def test_a_bias_asked_for_by_its_hook_says_how_it_is_called() -> None:
    fire: Wrong = ll.encodings.Fire.build(heads=2)
    with pytest.raises(TypeError, match=r"^Fire\.bias: .* encoding\(q_positions, k_positions\)"):
        fire.bias(POSITIONS, POSITIONS)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("rope", r"Rope adds nothing to the logits: call rotate\(q, k, q_positions, k_positions\)"),
        ("learned", r"Learned adds nothing to the logits: call embed\(x, positions\)"),
        ("sinusoidal", r"Sinusoidal adds nothing to the logits: call embed\(x, positions\)"),
        ("none", "NoEncoding adds nothing to the logits"),
    ],
)
def test_what_has_no_bias_says_what_it_does_instead(name: str, what: str) -> None:
    with pytest.raises(TypeError, match=f"^{what}$"):
        ENCODINGS[name].load().build(heads=2)(POSITIONS, POSITIONS)


def test_a_contextual_encoding_asks_for_queries_and_keys() -> None:
    for name in ("shaw", "cope"):
        encoding = ENCODINGS[name].load().build(heads=2, head_width=8)
        with pytest.raises(TypeError, match=r"looks at the content: call it with \(q_positions, k_positions, q, k\)"):
            encoding(POSITIONS, POSITIONS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"unit": 3}, r"Fire\.build: unit: no such key; did you mean units\?"),
        ({"units": "x", "c": 0}, r"Fire\.build: units: should be a whole number \(got 'x'\)"),
    ],
)
def test_a_wrong_option_ends_in_one_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ll.UserError, match=f"^{message}$"):
        ll.encodings.Fire.build(heads=2, **options)


def test_hooks_keep_their_names_and_their_words() -> None:
    assert ll.encodings.Fire.bias.__name__ == "bias" and issubclass(ll.encodings.Fire, Encoding)
