"""Everything that can be chosen by name, with its description."""

from typing import Any

from lengthlab.config.aids import aid_sentences
from lengthlab.config.axes import AXES, CHOICES
from lengthlab.config.load import load_config
from lengthlab.config.model import SIZES
from lengthlab.config.plugins import load_plugins
from lengthlab.config.presets import recipe_description, recipe_names
from lengthlab.figures import FIGURES


def catalogue() -> dict[str, list[dict[str, str]]]:
    """For each axis, and for figures, recipes and sizes, its entries, as {"name": ..., "description": ...}."""
    load_plugins()
    listed = {
        axis: [{"name": entry.name, "description": entry.description} for entry in registry.entries()]
        for axis, registry in (AXES | CHOICES | {"figures": FIGURES}).items()
    }
    listed["recipes"] = [{"name": name, "description": recipe_description(name)} for name in recipe_names()]
    listed["sizes"] = [{"name": name, "description": _shape(shape)} for name, shape in SIZES.items()]
    return listed


def recipes() -> list[dict[str, Any]]:
    """Every recipe with what its model is given: {"name": ..., "description": ..., "given": [sentences]}."""
    return [entry | {"given": aid_sentences(load_config(entry["name"]))} for entry in catalogue()["recipes"]]


def _shape(shape: dict[str, int]) -> str:
    layers = "1 layer" if shape["layers"] == 1 else f"{shape['layers']} layers"
    return f"{layers}, width {shape['width']}, feed-forward {shape['feedforward']}, {shape['heads']} heads"
