"""The folders follow the pipeline: nothing imports what comes after it."""

import ast
from pathlib import Path

import pytest

import lengthlab

ROOT = Path(lengthlab.__file__).parent
ORDER = [
    {"errors", "__init__"},
    {"registry", "options", "seeding", "files", "lengths", "sizes", "environment", "statistics"},
    {"tasks"},
    {"formats"},
    {"positions"},
    {"encodings", "optimizers"},
    {"config", "recipes"},
    {"batches", "runs", "results"},
    {"runs_table"},
    {"model", "checks"},
    {"evaluation"},
    {"training"},
    {"analysis"},
    {"experiments", "claims"},
    {"figures", "display", "catalogue"},
    {"sweep", "bench"},
    {"report"},
    {"commands"},
    {"cli"},
    {"__main__"},
]
RANK = {part: rank for rank, parts in enumerate(ORDER) for part in parts}
MODULES = sorted(ROOT.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> set[str]:
    """The parts of lengthlab that a module imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    inside = {name.split(".")[1] for name in names if name.startswith("lengthlab.")}
    return inside & RANK.keys()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_backwards(path: Path) -> None:
    rank = RANK[part_of(path)]
    assert not {part for part in imported_parts(path) if RANK[part] > rank}


def test_figures_read_tables_only() -> None:
    used = {part for path in (ROOT / "figures").glob("*.py") for part in imported_parts(path)}
    assert used <= {"figures"}


@pytest.mark.parametrize("folder", ["model", "training", "evaluation"])
def test_no_variant_is_named_outside_its_own_folder(folder: str) -> None:
    """Attention names no encoding, training no format: variants come through the registries."""
    from lengthlab.catalogue import AXES

    variants = {entry.location.partition(":")[0] for registry in AXES.values() for entry in registry.entries()}
    for path in (ROOT / folder).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.module not in variants, f"{path.name} imports {node.module}"


def test_the_command_line_starts_without_torch() -> None:
    import subprocess
    import sys

    code = "import sys, lengthlab.cli, lengthlab.catalogue as c; c.catalogue(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
