"""Everything that can be chosen by name, with its description."""

from lengthlab.encodings import ENCODINGS
from lengthlab.formats import FORMATS
from lengthlab.optimizers import OPTIMIZERS
from lengthlab.positions import POSITIONS
from lengthlab.recipes.names import recipe_description, recipe_names
from lengthlab.sizes import SIZES
from lengthlab.tasks import TASKS

AXES = {"encodings": ENCODINGS, "positions": POSITIONS, "formats": FORMATS, "tasks": TASKS, "optimizers": OPTIMIZERS}


def catalogue() -> dict[str, list[dict[str, str]]]:
    """For each axis its entries, as {"name": ..., "description": ...}."""
    listed = {
        axis: [{"name": entry.name, "description": entry.description} for entry in registry.entries()]
        for axis, registry in AXES.items()
    }
    listed["recipes"] = [{"name": name, "description": recipe_description(name)} for name in recipe_names()]
    listed["sizes"] = [{"name": name, "description": _shape(shape)} for name, shape in SIZES.items()]
    return listed


def _shape(shape: dict[str, int]) -> str:
    layers = "1 layer" if shape["layers"] == 1 else f"{shape['layers']} layers"
    return f"{layers}, width {shape['width']}, feed-forward {shape['feedforward']}, {shape['heads']} heads"
