"""Every option of a config, read off its schema; and where one is, for people who know its name but not its section."""

import json
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher, get_close_matches
from typing import Annotated, Any, Literal, get_args, get_origin

from lengthlab.config.axes import AXES
from lengthlab.config.plugins import load_plugins
from lengthlab.config.registry import Registry
from lengthlab.config.schema import Config, Pair
from lengthlab.config.sections import Options, Section
from lengthlab.errors import suggestion


def all_options() -> list[dict[str, Any]]:
    """Every option: name, type, default (as JSON), description, and the variants that it belongs to if not to all."""
    load_plugins()
    return [option for option in _of_section(Config, "") if option["name"] != "plugins"]  # nobody sets those


def _of_section(section: type[Section], path: str) -> list[dict[str, Any]]:
    axes = {registry.noun: (axis, registry) for axis, registry in AXES.items()}
    found: list[dict[str, Any]] = []
    for name, field in section.model_fields.items():
        where, inner = f"{path}{name}", field.annotation
        is_section = isinstance(inner, type) and issubclass(inner, Section) and inner is not Pair
        default: Any = None if field.is_required() else field.get_default(call_default_factory=True, validated_data={})
        if is_section and issubclass(inner, Options) and name in axes:
            axis, registry = axes[name]
            described = {"description": f"which {name}: lengthlab list {axis}", "default": json.dumps(default.kind)}
            found.append({"name": f"{where}.kind", "type": " | ".join(registry.names()), **described})
            for entry in registry.entries():
                own = _of_section(entry.options_class, f"{where}.")
                found += [option | {"variant": entry.name} for option in own if not option["name"].endswith(".kind")]
            found = _without_repeats(found, len(registry.entries()))
        elif is_section:
            found += _of_section(inner, f"{where}.")
        else:
            described = {"default": json.dumps(default), "description": field.description or ""}
            found.append({"name": where, "type": _typed(name, inner, field.metadata), **described})
    return found


def _typed(name: str, annotation: Any, metadata: Sequence[Any]) -> str:
    """What can be typed for an option, such as "true | false" or "number from 0 below 1"."""
    if name.endswith("digits") and get_origin(annotation) is tuple:
        return "lengths, such as 1-20,50"
    if registry := next((part for part in metadata if isinstance(part, Registry)), None):
        return " | ".join(registry.names())
    words = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}
    limits = [f" {words[key]} {getattr(part, key):,}" for part in metadata for key in words if hasattr(part, key)]
    bare, null, _ = _type(annotation).partition(" or null")
    return f"{bare}{''.join(limits)}{null}"


def _type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " | ".join(map(str, arguments))
    if origin is tuple:
        return f"list of: {_type(arguments[0])}"
    if origin is Annotated:
        return _type(arguments[0])
    if arguments:  # a union
        return " or ".join(map(_type, arguments))
    names = {bool: "true | false", int: "whole number", float: "number", str: "text", type(None): "null"}
    return names.get(annotation, "{positions: ..., encoding: ...}")


def _without_repeats(options: list[dict[str, Any]], all_variants: int) -> list[dict[str, Any]]:
    """An option that several variants share, with the same default, is listed once; for no variant if all share it."""
    merged: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for option in options:
        bare = {name: part for name, part in option.items() if name != "variant"}
        merged.setdefault(json.dumps(bare), (bare, []))[1].extend([option["variant"]] if "variant" in option else [])
    shared = {0, all_variants}
    return [bare if len(of) in shared else bare | {"variant": ", ".join(of)} for bare, of in merged.values()]


# What other projects call it.
ELSEWHERE = {
    "lr": "training.optimizer.rate",
    "learning_rate": "training.optimizer.rate",
    "wd": "training.optimizer.weight_decay",
    "batch_size": "training.batch",
    "max_steps": "training.steps",
    "epochs": "training.steps",
    "num_epochs": "training.steps",
    "num_steps": "training.steps",
    "iterations": "training.steps",
    "grad_clip": "training.clip",
    "warmup_steps": "training.schedule.warmup",
    "dtype": "training.precision",
    "d_model": "model.width",
    "hidden_size": "model.width",
    "n_embd": "model.width",
    "n_layer": "model.layers",
    "n_layers": "model.layers",
    "num_layers": "model.layers",
    "depth": "model.layers",
    "n_head": "model.heads",
    "n_heads": "model.heads",
    "num_heads": "model.heads",
    "d_ff": "model.feedforward",
    "size": "model.size",
    "position_encoding": "encoding",
    "pe": "encoding",
    "position_ids": "positions",
    "max_digits": "training.digits",
    "index_hints": "format.hints",
    "reverse": "format.order",
    "reversed": "format.order",
}


def settings() -> dict[str, list[str]]:
    """Every setting by its dotted name, with the variants that have it; none if it belongs to no variant."""
    found: dict[str, list[str]] = {}
    for option in all_options():
        variants = option["variant"].split(", ") if "variant" in option else []
        found.setdefault(option["name"], []).extend(variants)
    return found


def hint(path: list[str], key: str, near: list[str]) -> str:
    """The end of the message about an unknown `key` of the section at `path`, whose own keys are `near`."""
    known = settings()
    dotted = ".".join([*path, key])
    if variants := known.get(dotted):  # a right name beside the wrong variant
        return f"it belongs to {path[-1]}={' or '.join(variants[:3])}"
    at_other_places = _places_of(key, known)
    if not at_other_places:
        leaves = {name.rpartition(".")[2]: name for name in known}
        here, elsewhere = (get_close_matches(key, names, n=1) for names in (near, leaves))
        if elsewhere and not (here and _alike(key, here[0]) >= _alike(key, elsewhere[0])):
            at_other_places = [leaves[elsewhere[0]]]
    return f"did you mean {' or '.join(at_other_places[:3])}?" if at_other_places else suggestion(key, near)


def settings_called(key: str) -> list[str]:
    """The dotted names of what people call `key`: a setting's own name, the last part of it, or another project's."""
    known = settings()
    return [key] if key in known else _places_of(key, known)


def _places_of(key: str, known: Collection[str]) -> list[str]:
    sections = {name.rpartition(".")[0] for name in known}
    places = [name for name in sorted(sections) + list(known) if name.rpartition(".")[2] == key]
    return places or [ELSEWHERE[word] for word in [key.lower()] if word in ELSEWHERE]


def _alike(a: str, b: str) -> float:
    return SequenceMatcher(None, a, b).ratio()
