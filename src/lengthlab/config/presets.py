"""The presets that come with lengthlab, and reading YAML recipes."""

import copy
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from lengthlab.config.yaml_text import NotYaml, parse_yaml
from lengthlab.errors import UserError, suggestion

_FOLDER = resources.files("lengthlab.config") / "recipes"


@cache
def recipe_names() -> tuple[str, ...]:
    """The presets that come with lengthlab."""
    return tuple(sorted(Path(item.name).stem for item in _FOLDER.iterdir() if item.name.endswith(".yaml")))


def recipe_description(name: str) -> str:
    """The one-line description of a preset."""
    return str(read_recipe(name).get("description", ""))


def read_recipe(recipe: str) -> dict[str, Any]:
    """The mapping that a preset or a YAML file holds."""
    if recipe in recipe_names():
        return copy.deepcopy(_preset(recipe))
    if Path(recipe).is_file():
        try:
            text = Path(recipe).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise UserError(f"{recipe}: not a YAML text file") from None
    else:
        raise UserError(f"no recipe or file {recipe!r}; {suggestion(recipe, recipe_names())}")
    return _parse(recipe, text)


@cache
def _preset(name: str) -> dict[str, Any]:
    """Read once: an experiment asks for its base hundreds of times."""
    return _parse(name, (_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))


def _parse(recipe: str, text: str) -> dict[str, Any]:
    return parse_mapping(recipe, text, "a recipe is a YAML mapping such as `model: {layers: 4}`")


def parse_mapping(name: str, text: str, otherwise: str) -> dict[str, Any]:
    """The mapping that a YAML text holds; a mistake is reported with the name, `otherwise` if it is no mapping."""
    try:
        data = parse_yaml(text)
    except NotYaml as error:
        where = f", line {error.line}" if error.line else ""
        raise UserError(f"{name}{where}: not valid YAML ({error})") from None
    if not isinstance(data, dict):
        raise UserError(f"{name}: {otherwise}")
    return data
