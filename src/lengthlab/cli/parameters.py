"""Arguments that several commands share, and the checks of what is typed for them."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from lengthlab.config.lengths import parse_lengths
from lengthlab.errors import UserError


def flag(help: str, name: str | None = None) -> Any:
    """A switch that is off unless it is named."""
    return Parameter(name=name, negative="", show_default=False, help=help)


Json = Annotated[bool, flag("Print JSON.", "--json")]
Recipe = Annotated[str, Parameter(help="The name of a recipe, or a YAML file.")]
RunName = Annotated[str, Parameter(help="The run's folder, or (the beginning of) its id.")]
RunNames = Annotated[str, Parameter(help="Folders of runs, or (the beginnings of) their ids.")]
Overrides = Annotated[str, Parameter(help="Settings by dotted name, such as training.steps=500 or encoding=none.")]
MOST_EXAMPLES = 10**7  # as in a recipe
MOST_SEEDS = 1000
MOST_THREADS = os.cpu_count() or 1
Weights = Annotated[
    Literal["last", "best", "ema"],
    Parameter(help="The last weights, those that were best on training lengths, or their moving average."),
]
Seed = Annotated[int | None, Parameter(help="Short for seed=N: initial weights, data and sampling.")]


def lengths(option: str, text: str, lowest: int = 1) -> tuple[int, ...]:
    """A range typed for an option, such as 1-20 or 5,10."""
    try:
        return parse_lengths(text, lowest)
    except ValueError as error:
        raise UserError(f"{option}: {error}") from None


def seeds_of(text: str) -> tuple[int, ...]:
    """What is typed for `--seeds`."""
    found = lengths("--seeds", text, lowest=0)
    if len(found) > MOST_SEEDS:
        raise UserError(f"--seeds: at most {MOST_SEEDS:,} of them")
    return found


def at_least(lowest: int, most: int = 10**18, **options: int | None) -> None:
    """Refuse an option below `lowest` or above `most`; None is not given."""
    for name, value in options.items():
        if value is not None and not lowest <= value <= most:
            limit = f"at least {lowest}" if value < lowest else f"at most {most:,}"
            raise UserError(f"--{name.replace('_', '-')}: {limit}")


def with_seed(overrides: Sequence[str], seed: int | None) -> list[str]:
    """The overrides and `--seed`, which may not contradict one another."""
    if seed is None:
        return list(overrides)
    at_least(0, seed=seed)
    for override in overrides:
        if override.partition("=")[0].partition(".")[0] in ("seed", "seeds") and override != f"seed={seed}":
            raise UserError(f"--seed {seed} and {override}: give only one of them")
    return [*overrides, f"seed={seed}"]


def place_for(path: Path, what: str = "file", option: str = "--out") -> Path:
    """Where an option points to; an absent folder above it is made later, but only inside the working folder."""
    if not path.name:
        raise UserError(f"{option}: name a {what}, such as {'exact-match' if what == 'file' else 'analysis'}")
    folder = path.parent.resolve()
    if not folder.is_dir() and not folder.is_relative_to(Path.cwd()):
        raise UserError(
            f"{option}: no folder {path.parent}; make it first (missing ones are made only inside the working folder)"
        )
    return path
