"""`lengthlab list options`: every setting by its dotted name, with its default and what it does."""

import json
from typing import Any

from pydantic.fields import FieldInfo

from lengthlab.config import Config, Pair
from lengthlab.encodings import ENCODINGS
from lengthlab.formats import FORMATS
from lengthlab.optimizers import OPTIMIZERS
from lengthlab.options import Section
from lengthlab.positions import POSITIONS
from lengthlab.registry import Registry
from lengthlab.tasks import TASKS

VARIANTS: dict[str, Registry] = {
    "task": TASKS,
    "format": FORMATS,
    "positions": POSITIONS,
    "encoding": ENCODINGS,
    "training.optimizer": OPTIMIZERS,
}


def all_options() -> list[dict[str, Any]]:
    """Every option: name, default (as JSON), description, and the variant that it belongs to if it does to one."""
    return list(_of_section(Config, ""))


def _of_section(section: type[Section], path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name, field in section.model_fields.items():
        where = f"{path}{name}"
        if where in VARIANTS:
            for entry in VARIANTS[where].entries():
                own = _of_section(entry.load().options_class, f"{where}.")
                found += [option | {"variant": entry.name} for option in own if not option["name"].endswith(".kind")]
        elif (inner := _section(field)) is not None and inner is not Pair:
            found += _of_section(inner, f"{where}.")
        else:
            default = None if field.is_required() else field.get_default(call_default_factory=True, validated_data={})
            found.append({"name": where, "default": json.dumps(default), "description": field.description or ""})
    return _without_repeats(found)


def _section(field: FieldInfo) -> type[Section] | None:
    annotation = field.annotation
    return annotation if isinstance(annotation, type) and issubclass(annotation, Section) else None


def _without_repeats(options: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """An option that all variants share, with the same default, is told once, for no variant in particular."""
    merged: dict[tuple[str, str, str], dict[str, Any]] = {}
    for option in options:
        key = (option["name"], option["default"], option["description"])
        if key in merged and "variant" in option:
            merged[key]["variant"] += f", {option['variant']}"
        else:
            merged[key] = dict(option)
    return list(merged.values())
