"""`lengthlab ship`, for maintainers: put a finished run into the box that comes with the package."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from lengthlab.cli.console import Screen, size
from lengthlab.cli.parameters import MOST_EXAMPLES, RunName, at_least, lengths
from lengthlab.errors import UserError
from lengthlab.shipped import FOLDER

if TYPE_CHECKING:
    from lengthlab.runs.run import Run

LARGEST = 3_000_000  # bytes of one model file


def ship(
    run: RunName,
    /,
    *,
    name: Annotated[Literal["robust", "paper", "fragile"], Parameter(help="Which shipped model it becomes.")],
    chosen: Annotated[str, Parameter(help="How it was chosen among the runs that were tried, in a sentence.")],
    digits: Annotated[str | None, Parameter(help="Further lengths to test now, such as 200,500,1000.")] = None,
    examples: Annotated[int, Parameter(help="Problems for each of them.")] = 100,
) -> None:
    """Pack a finished run as a model that comes with lengthlab. Its card lists all runs of the same setting."""
    further = lengths("--digits", digits) if digits else ()
    at_least(1, MOST_EXAMPLES, examples=examples)
    from lengthlab.runs.run import Run

    weights, card = ship_run(Run.find(run), name, chosen, further, examples)
    console = Screen()
    console.put(f"{weights} ({size(weights.stat().st_size)})")
    console.put(str(card))


def ship_run(
    run: "Run", name: str, chosen: str, further: Sequence[int], examples: int, folder: Path = FOLDER
) -> tuple[Path, Path]:
    """Write NAME.safetensors and NAME.md; `further` lengths are tested now, beyond those of the run itself."""
    from lengthlab.evaluation.exact_match import exact_match
    from lengthlab.evaluation.load import load_model
    from lengthlab.export.card import model_card
    from lengthlab.export.facts import facts_of
    from lengthlab.export.file import save_model
    from lengthlab.runs.files import write_atomically

    if run.status.get("state") != "finished":
        raise UserError(f"run {run.id} is not finished; only finished runs are shipped")
    if not chosen.strip():
        raise UserError("--chosen: say in a sentence how this run was chosen among those that were tried")
    model, pipeline = load_model(run)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    known = run.evaluation or []
    new = [digits for digits in further if digits not in {row["digits"] for row in known}]
    tested: list[dict[str, Any]] = [row.as_dict() for row in exact_match(model, pipeline, new, examples)]
    scores = sorted([*known, *tested], key=lambda row: row["digits"])
    facts = facts_of(run, name, parameters, chosen, scores, _refuse)
    weights, card = folder / f"{name}.safetensors", folder / f"{name}.md"
    if 4 * parameters > LARGEST:
        raise UserError(f"run {run.id} has {parameters:,} parameters; a shipped model has at most {LARGEST // 4:,}")
    save_model(weights, model, pipeline.config, pipeline.format.vocabulary.texts, facts)
    write_atomically(card, model_card(facts))
    return weights, card


def _refuse(complaint: str) -> None:
    """A card that names what was tried must not leave out what could not be read."""
    raise UserError(f"{complaint}; repair or remove these runs first")
