"""The folders follow the pipeline: nothing imports what comes after it."""

import ast
from pathlib import Path

import pytest

import lengthlab

ROOT = Path(lengthlab.__file__).parent
# Packages and files from the bottom up. A file that stands lower or higher than its package is named by itself.
ORDER = [
    {"errors", "cli.console"},
    {"config.yaml_text", "config.registry", "config.sections", "config.lengths", "config.mistakes"},
    {"analysis.names", "seeding", "statistics"},
    {"runs.files", "runs.environment"},
    {"model.kernels"},
    {"tasks"},
    {"formats"},
    {"positions"},
    {"encodings", "optimizers"},
    {"config"},
    {"batches", "runs"},
    {"model", "config.checks"},
    {"evaluation"},
    {"training"},
    {"analysis", "config.contracts"},
    {"figures"},
    {"paper"},
    {"config.catalogue"},
    {"sweep", "bench", "export"},
    {"shipped"},
    {"api"},
    {"board"},
    {"report", "web"},
    {"cli"},
    {"__main__", "__init__"},
]
RANK = {part: rank for rank, parts in enumerate(ORDER) for part in parts}
MODULES = sorted(ROOT.rglob("*.py"))


def part_of(module: str) -> str:
    """The part of ORDER that a module within lengthlab belongs to: itself if it is named there, or its package."""
    package, _, rest = module.partition(".")
    file = f"{package}.{rest.partition('.')[0]}"
    return file if file in RANK else package


def imported_parts(path: Path) -> set[str]:
    """The parts of lengthlab that a module imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Call) and "import_module" in (getattr(node.func, at, "") for at in ("id", "attr")):
            names.update(str(name.value) for name in node.args if isinstance(name, ast.Constant))
    inside = {part_of(name.removeprefix("lengthlab.")) for name in names if name.startswith("lengthlab.")}
    return inside & RANK.keys()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_backwards(path: Path) -> None:
    rank = RANK[part_of(".".join(path.relative_to(ROOT).with_suffix("").parts))]
    assert not {part for part in imported_parts(path) if RANK[part] > rank}


def test_figures_read_tables_only() -> None:
    used = {part for path in (ROOT / "figures").glob("*.py") for part in imported_parts(path)}
    assert used <= {"figures", "statistics", "config.registry", "analysis.names"}


@pytest.mark.parametrize("folder", ["model", "training", "evaluation"])
def test_no_variant_is_named_outside_its_own_folder(folder: str) -> None:
    """Attention names no encoding, training no format: variants come through the registries."""
    from lengthlab.config.axes import AXES

    variants = {entry.location.partition(":")[0] for registry in AXES.values() for entry in registry.entries()}
    for path in (ROOT / folder).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.module not in variants, f"{path.name} imports {node.module}"


def test_the_command_line_starts_without_torch() -> None:
    import subprocess
    import sys

    code = "import sys, lengthlab.cli, lengthlab.config.catalogue as c; c.catalogue(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
