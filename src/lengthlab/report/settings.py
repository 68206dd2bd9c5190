"""What differs between the settings of an experiment, and what they share."""

import json
from collections.abc import Mapping
from typing import Any

import yaml

from lengthlab.config import Config


def flat(value: Any, prefix: str = "") -> dict[str, Any]:
    """A nested mapping by dotted names.

    >>> flat({"model": {"layers": 3}, "also": []})
    {'model.layers': 3, 'also': []}
    """
    if not isinstance(value, Mapping):
        return {prefix: value}
    found: dict[str, Any] = {}
    for key, inner in value.items():
        found |= flat(inner, f"{prefix}.{key}" if prefix else str(key))
    return found


def differences(config: Config, base: Config) -> list[str]:
    """The settings of `config` that are not those of `base`, as the command line takes them."""
    own, shared = (flat(each.model_dump(mode="json")) for each in (config, base))
    changed = [f"{key}={_short(value)}" for key, value in own.items() if key not in shared or shared[key] != value]
    kinds = {text.partition(".kind=")[0] for text in changed if ".kind=" in text}
    # A variant's own defaults come with its name.
    return [text for text in changed if text.partition(".")[0] not in kinds or ".kind=" in text or _said(text, config)]


def _said(text: str, config: Config) -> bool:
    """Whether an option of a variant differs from what the variant's name alone would give."""
    section, _, option = text.partition("=")[0].partition(".")
    options = getattr(config, section, None)
    fields = getattr(type(options), "model_fields", {})
    return option in fields and getattr(options, option) != fields[option].get_default(call_default_factory=True)


def _short(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=10_000).strip().removesuffix("...").strip()
    return text if text != "null" else "none"


def as_yaml(config: Config) -> str:
    """The whole config as a recipe; lists on one line."""
    return yaml.dump(config.model_dump(mode="json"), Dumper=_Dumper, sort_keys=False, width=100)


class _Dumper(yaml.SafeDumper):
    """Lists of numbers on one line."""


_Dumper.add_representer(list, lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data, True))


def as_text(overrides: Mapping[str, Any]) -> list[str]:
    """Settings as the command line takes them."""
    return [f"{key}={json.dumps(value)}" for key, value in overrides.items()]
