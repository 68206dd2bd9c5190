"""`lengthlab diff`: the settings in which two recipes or runs differ."""

import json
from typing import Any

from rich.text import Text

from lengthlab.cli.config import RecipeOrRun, resolve
from lengthlab.cli.console import Screen, print_json, table
from lengthlab.cli.parameters import Json
from lengthlab.runs.columns import flat


def diff(a: RecipeOrRun, b: RecipeOrRun, /, *, as_json: Json = False) -> None:
    """Show the settings in which two recipes or runs differ.

    lengthlab diff zhou2024-mini coupling-relative-mini
    """
    both = [flat(resolve(name, []).model_dump(mode="json")) for name in (a, b)]
    every = dict.fromkeys([*both[0], *both[1]])
    sections = list(dict.fromkeys(map(_section, every)))  # options of one variant stand among those of their section
    differing = [name for name in every if both[0].get(name) != both[1].get(name)]
    names = sorted(differing, key=lambda name: sections.index(_section(name)))
    if as_json:
        print_json([{"name": name, "a": both[0].get(name), "b": both[1].get(name)} for name in names])
        return
    console = Screen()
    if not names:
        console.say(f"{a} and {b} have the same settings")
        return
    made = table("", ("setting", a, b))
    for name in names:
        made.add_row(name, *(Text(_value(settings, name)) for settings in both))
    console.print(made)


def _section(name: str) -> str:
    return name.partition(".")[0]


def _value(settings: dict[str, Any], name: str) -> str:
    from lengthlab.config.lengths import lengths_text

    value = settings.get(name, "-")  # an option of the other's variant
    is_lengths = isinstance(value, list) and value and all(isinstance(part, int) for part in value)
    if is_lengths and name.endswith("digits"):
        return lengths_text(value)
    return value if isinstance(value, str) else json.dumps(value)  # as it is typed
