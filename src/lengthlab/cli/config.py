"""`lengthlab config`: a recipe with everything it stands for."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from lengthlab.cli.console import Screen, print_json
from lengthlab.cli.parameters import Json, Overrides, Seed, with_seed
from lengthlab.errors import UserError, suggestion

if TYPE_CHECKING:
    from lengthlab.config.schema import Config

RecipeOrRun = Annotated[str, Parameter(help="The name of a recipe, a YAML file, or a run (its folder or id).")]


def config(name: RecipeOrRun, /, *overrides: Overrides, seed: Seed = None, as_json: Json = False) -> None:
    """Print all settings of a recipe or run as YAML.

    The output is a recipe itself.

    lengthlab config zhou2024-mini encoding=rope > mine.yaml
    """
    settings = resolve(name, with_seed(overrides, seed)).model_dump(mode="json")
    if as_json:
        print_json(settings)
        return
    import yaml

    Screen().put(yaml.safe_dump(settings, sort_keys=False, allow_unicode=True).rstrip())


def resolve(name: str, overrides: list[str]) -> "Config":
    """The config of a recipe, of a YAML file or of a run, with overrides."""
    from pathlib import Path

    from lengthlab.config.load import load_config
    from lengthlab.config.presets import recipe_names
    from lengthlab.runs.run import Run, runs_folder

    if name in recipe_names() or Path(name).is_file():
        return load_config(name, overrides)
    known = sorted(path.parent.name for path in runs_folder().glob("*/config.yaml"))
    if (Path(name) / "config.yaml").is_file() or any(run.startswith(name) for run in known if name):
        return Run.find(name).config_with(overrides)
    raise UserError(f"no recipe, file or run {name!r}; {suggestion(name, [*recipe_names(), *known])}")
