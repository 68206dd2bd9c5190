"""From a recipe's name or file and `key=value` overrides to a resolved config.

A recipe is a YAML mapping with the keys of `Config`. It may say `extends: OTHER` and then only what
differs. `description` is for people.
"""

from collections.abc import Sequence
from typing import Any

import yaml
from pydantic import ValidationError

from lengthlab.config import Config
from lengthlab.errors import UserError
from lengthlab.recipes.names import read_recipe
from lengthlab.sizes import SHAPE


def load_config(recipe: str, overrides: Sequence[str] = ()) -> Config:
    """Resolve a preset's name or a YAML file, with `dotted.key=value` overrides on top."""
    data = _resolve(recipe)
    for override in overrides:
        key, separator, text = override.partition("=")
        if not separator or not key:
            raise UserError(f"{override!r} is not of the form key=value, such as training.steps=500")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError:
            value = text
        _assign(data, key.split("."), value)
    return validate(data)


def validate(data: Any) -> Config:
    """A config from plain data; the first mistake is raised as one sentence with its dotted path."""
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        raise UserError(_first_mistake(error)) from None


def _first_mistake(error: ValidationError) -> str:
    mistake = error.errors(include_url=False)[0]
    context = mistake.get("ctx", {})
    path = [str(part) for part in mistake["loc"]]
    if "key" in context:
        path.append(context["key"])
        return f"{'.'.join(path)}: {mistake['msg']}"
    message = mistake["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:]
    return f"{'.'.join(path)}: {message} (got {mistake['input']!r})"


def _resolve(recipe: str, seen: tuple[str, ...] = ()) -> dict[str, Any]:
    if recipe in seen:
        raise UserError(f"recipe {recipe!r} extends itself")
    data = read_recipe(recipe)
    data.pop("description", None)
    parent = data.pop("extends", None)
    return data if parent is None else _merge(_resolve(str(parent), (*seen, recipe)), data)


def _merge(base: dict[str, Any], difference: dict[str, Any]) -> dict[str, Any]:
    """`base` with the settings of `difference` in place of its own, section by section.

    Another `kind` starts its section afresh: the old kind's options mean nothing to it. Another model `size` replaces
    the whole shape.
    """
    merged = dict(base)
    for key, value in difference.items():
        old, new = _as_mapping(key, merged.get(key)), _as_mapping(key, value)
        if (
            not isinstance(old, dict)
            or not isinstance(new, dict)
            or new.get("kind", old.get("kind")) != old.get("kind")
        ):
            merged[key] = new
            continue
        if "size" in new:
            old = {name: setting for name, setting in old.items() if name not in SHAPE}
        merged[key] = _merge(old, new)
    return merged


def _assign(data: dict[str, Any], path: list[str], value: Any) -> None:
    """Set a dotted key."""
    difference: Any = value
    for key in reversed(path):
        difference = {key: difference}
    merged = _merge(data, difference)
    data.clear()
    data.update(merged)


def _as_mapping(key: str, value: Any) -> Any:
    """A section written in short: `encoding: fire` and `model: 25M`."""
    if isinstance(value, str) and key in ("task", "format", "positions", "encoding", "optimizer"):
        return {"kind": value}
    if isinstance(value, str | int) and key == "model":
        return {"size": str(value)}
    return value
