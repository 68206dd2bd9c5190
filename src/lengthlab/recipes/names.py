"""The presets that come with lengthlab, and reading YAML recipes."""

from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from lengthlab.errors import UserError, suggestion

_FOLDER = resources.files("lengthlab.recipes")


def recipe_names() -> list[str]:
    """The presets that come with lengthlab."""
    return sorted(Path(item.name).stem for item in _FOLDER.iterdir() if item.name.endswith(".yaml"))


def recipe_description(name: str) -> str:
    """The one-line description of a preset."""
    return str(read_recipe(name).get("description", ""))


def read_recipe(recipe: str) -> dict[str, Any]:
    """The mapping that a preset or a YAML file holds."""
    if recipe in recipe_names():
        text = (_FOLDER / f"{recipe}.yaml").read_text(encoding="utf-8")
    elif Path(recipe).is_file():
        try:
            text = Path(recipe).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise UserError(f"{recipe}: not a YAML text file") from None
    else:
        raise UserError(f"no recipe or file {recipe!r}; {suggestion(recipe, recipe_names())}")
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise UserError(
            f"{recipe}{where}: not valid YAML ({getattr(error, 'problem', None) or 'cannot be read'})"
        ) from None
    if not isinstance(data, dict):
        raise UserError(f"{recipe}: a recipe is a YAML mapping such as `model: {{layers: 4}}`")
    return data
