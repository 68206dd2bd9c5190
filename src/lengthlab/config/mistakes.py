"""What is wrong with settings, as sentences that name the dotted path and what should be there."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ValidationError

from lengthlab.errors import suggestion

SHOWN = 60  # characters of a wrong value that its message repeats
MOST = 5  # mistakes named at once
PLAIN_WORDS = {  # for pydantic's
    r"a valid dictionary or instance of \w+": "a section such as {key: value}",
    r"a valid tuple": "a list such as [a, b]",
    r"Tuple should": "should",
    r"a valid integer": "a whole number",
    r"a valid number": "a number",
}
# The end of the message about an unknown key: of the path of its section, the key, and the section's own keys.
Hint = Callable[[list[str], str, list[str]], str]


def nearest(path: list[str], key: str, near: list[str]) -> str:
    """The nearest key of the same section."""
    return suggestion(key, near)


def first_mistake(error: ValidationError) -> str:
    """The first mistake as one sentence."""
    return mistakes(error)[0]


def mistakes(error: ValidationError, hint: Hint = nearest) -> list[str]:
    """Every mistake as one sentence: its dotted path, and what should be there."""
    return [sentence for mistake in error.errors(include_url=False) for sentence in _sentences(mistake, hint)]


def unknown_keys(error: ValidationError) -> list[tuple[tuple[str | int, ...], str]]:
    """The keys that no section has: where the section is, and the key."""
    unknown = [one for one in error.errors(include_url=False) if one["type"] == "unknown_key"]
    return [(_path(one["loc"]), key) for one in unknown for key in one.get("ctx", {})["keys"]]


def in_one_line(sentences: Sequence[str]) -> str:
    """Several mistakes, each once.

    >>> in_one_line(["steps: no such key; did you mean training.steps?", "lr: should be a number"])
    'steps: no such key; did you mean training.steps? lr: should be a number'
    """
    once = list(dict.fromkeys(sentences))
    named = [text if text.endswith("?") or text is once[-1] else f"{text}." for text in once[:MOST]]
    return " ".join([*named, f"(and {len(once) - MOST} more)"] if len(once) > MOST else named)


def shown(text: str) -> str:
    """A text short enough for a sentence.

    >>> shown("9" * 5000)
    '99999999999999999999999999999999999999999999999999999999...'
    """
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 4]}..."


def _path(place: tuple[str | int, ...]) -> tuple[str | int, ...]:
    return tuple(part for part in place if not str(part).startswith("literal["))


def _sentences(mistake: Any, hint: Hint) -> list[str]:
    context = mistake.get("ctx", {})
    path = [str(part) for part in _path(mistake["loc"])]
    if mistake["type"] == "unknown_key":
        place, near = "".join(f"{part}." for part in path), context["near"]
        return [f"{place}{shown(key)}: no such key; {hint(path, key, near)}" for key in context["keys"]]
    if "key" in context:
        path.append(context["key"])
        return [f"{'.'.join(path)}: {mistake['msg']}"]
    message = mistake["msg"].removeprefix("Value error, ").removeprefix("Input ").partition(", unable to parse")[0]
    for theirs, ours in PLAIN_WORDS.items():
        message = re.sub(theirs, ours, message)
    return [f"{'.'.join(path)}: {message[0].lower() + message[1:]} (got {shown(repr(mistake['input']))})"]
