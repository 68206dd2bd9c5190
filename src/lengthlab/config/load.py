"""From a recipe's name or file and `key=value` overrides to a resolved config.

A recipe is a YAML mapping with the keys of `Config`. It may say `extends: OTHER` and then only what
differs. `description` is for people; `plugins: [FILE]` names Python files beside it (see `plugins.py`).
"""

import re
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lengthlab.config.axes import AXES
from lengthlab.config.mistakes import in_one_line, mistakes, shown, unknown_keys
from lengthlab.config.model import SHAPE
from lengthlab.config.names import hint
from lengthlab.config.plugins import load_plugins
from lengthlab.config.presets import read_recipe
from lengthlab.config.schema import Config
from lengthlab.config.yaml_text import NotYaml, parse_yaml
from lengthlab.errors import UserError

RUN_CONFIG = "config.yaml"  # in every run folder
WHOLE = re.compile(r"\d+(\.\d+)?[eE]\+?\d\d?")  # 1e3, which YAML takes for text
VARIANTS = {registry.noun: registry for registry in AXES.values()}
DEFAULTS: dict[str, Any] = {noun: {"kind": registry.default} for noun, registry in VARIANTS.items()}
DEFAULTS["training"] = {"optimizer": DEFAULTS.pop("optimizer")}  # the only axis whose section lies within another


def load_config(recipe: str, overrides: Sequence[str] = ()) -> Config:
    """Resolve a preset's name or a YAML file, with `dotted.key=value` overrides on top, in whatever order they come."""
    load_plugins()
    return validate(_merge(_resolve(recipe), _expand_seed(_collect(overrides))))


def _collect(overrides: Sequence[str]) -> dict[str, Any]:
    """All overrides as one mapping; of two for the same key the later counts."""
    collected: dict[str, Any] = {}
    for override in overrides:
        key, separator, text = override.partition("=")
        path = key.split(".")
        if not separator or not all(path):
            raise UserError(f"{shown(repr(override))} is not of the form key=value, such as training.steps=500")
        value = _value(text)
        section = collected
        for name in path[:-1]:
            inner = _as_mapping(name, section.get(name))
            section[name] = inner if isinstance(inner, dict) else {}
            section = section[name]
        last, new = path[-1], _as_mapping(path[-1], value)
        old = _as_mapping(last, section.get(last))
        section[last] = old | new if isinstance(old, dict) and isinstance(new, dict) else new
    return collected


def _value(text: str) -> Any:
    """What is typed after `key=`: YAML, and whole numbers such as 1e3."""
    if WHOLE.fullmatch(text) and float(text).is_integer() and float(text) < 1e15:
        return int(float(text))
    try:
        return parse_yaml(text)
    except NotYaml:
        return text


def _expand_seed(data: dict[str, Any]) -> dict[str, Any]:
    """`seed: 3` is short for weights, data and sampling all 3, where `seeds` does not say otherwise."""
    if "seed" not in data:
        return data
    seed = data["seed"]
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise UserError(f"seed: should be a whole number, 0 or more (got {shown(repr(seed))})")
    seeds = data.get("seeds", {})
    if not isinstance(seeds, dict):
        raise UserError(f"seeds: should be a section such as {{weights: 1}} (got {shown(repr(seeds))})")
    expanded = {"weights": seed, "data": seed, "sampling": seed} | seeds
    return {key: value for key, value in data.items() if key != "seed"} | {"seeds": expanded}


def validate(data: Any) -> Config:
    """A config from plain data; its mistakes are raised together, each with its dotted path."""
    if isinstance(data, dict):
        data = _merge(DEFAULTS, _expand_seed(data))
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        raise UserError(in_one_line(_mistakes(data, error))) from None


def _mistakes(data: Any, error: ValidationError) -> list[str]:
    """All mistakes; a section with an unknown key is looked at again without it, for it hides the others."""
    found = mistakes(error, hint)
    unknown = unknown_keys(error)
    if not unknown:
        return found
    data = deepcopy(data)
    for path, key in unknown:
        section = data
        for part in path:
            section = section[part]
        del section[key]
    try:
        Config.model_validate(data)
    except ValidationError as others:
        found += _mistakes(data, others)
    return found


def _resolve(recipe: str, seen: tuple[str, ...] = ()) -> dict[str, Any]:
    if recipe in seen:
        raise UserError(f"recipe {recipe!r} extends itself")
    data = read_recipe(recipe)
    data.pop("description", None)
    parent = data.pop("extends", None)
    if Path(recipe).name != RUN_CONFIG:  # which says what its run used; only a recipe may ask for code
        load_plugins([Path(recipe).parent / str(file) for file in _as_list(data.pop("plugins", []))])
    data = _expand_seed(data)
    return data if parent is None else _merge(_resolve(str(parent), (*seen, recipe)), data)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _merge(base: dict[str, Any], difference: dict[str, Any]) -> dict[str, Any]:
    """`base` with the settings of `difference` in place of its own, section by section.

    Another variant starts its section afresh: the old one's options mean nothing to it. Another model `size` replaces
    the whole shape.
    """
    merged = dict(base)
    for key, value in difference.items():
        old, new = _as_mapping(key, merged.get(key)), _as_mapping(key, value)
        another = (
            key in VARIANTS
            and isinstance(new, dict)
            and isinstance(old, dict)
            and new.get("kind", old["kind"]) != old["kind"]
        )
        if not isinstance(old, dict) or not isinstance(new, dict) or another:
            merged[key] = new
            continue
        if "size" in new:
            old = {name: setting for name, setting in old.items() if name not in SHAPE}
        merged[key] = _merge(old, new)
    return merged


def _as_mapping(key: str, value: Any) -> Any:
    """A section written in short: `encoding: fire` and `model: 25M`; a variant by its registered name."""
    if isinstance(value, str) and key in VARIANTS:
        value = {"kind": value}
    if isinstance(value, dict) and key in VARIANTS and "kind" in value:
        return value | {"kind": VARIANTS[key].canonical(value["kind"]) or value["kind"]}
    if isinstance(value, str | int) and key == "model":
        return {"size": str(value)}
    return value
