"""What a reader should know of a trained model before trusting it, gathered from its run folder."""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from lengthlab.config.aids import aid_sentences
from lengthlab.config.load import load_config
from lengthlab.config.presets import recipe_names
from lengthlab.config.schema import Config
from lengthlab.errors import UserError
from lengthlab.runs.reader import Record, read_runs
from lengthlab.runs.run import Run


class Score(BaseModel):
    """Exact match at one length, with its 95% interval."""

    digits: int
    examples: int
    exact_match: float
    low: float
    high: float


class Sibling(BaseModel):
    """A run of the same setting with other seeds, and how it did at the lengths that all of them were tested at."""

    run: str
    seed: str
    state: str
    at: dict[int, float]


class Facts(BaseModel):
    """What a model card says, and what the page shows beside a model."""

    name: str
    task: str
    recipe: str  # a preset's name, or "a recipe of its own"
    run: str
    seed: str
    parameters: int
    trained_digits: int
    steps: int
    chosen: str  # how it was picked among the runs that were trained
    tried: list[Sibling]
    scores: list[Score]
    told: list[str]  # what the code tells the model

    @property
    def longest_tested(self) -> int:
        return max((score.digits for score in self.scores), default=self.trained_digits)


def facts_of(
    run: Run,
    name: str,
    parameters: int,
    chosen: str,
    scores: list[dict[str, Any]] | None = None,
    note: Callable[[str], None] = lambda text: None,
) -> Facts:
    """The facts of a finished run; `scores` in place of those in its folder, if they were tested anew.

    `note` is called about runs beside it that cannot be read, and so are missing among those that were tried.
    """
    config = run.config
    rows = run.evaluation or [] if scores is None else scores
    loaded = read_runs(run.path.parent)
    if loaded.complaint:
        note(loaded.complaint)
    records = loaded.records
    own = next((record for record in records if record.id == run.id), None)
    if own is None:
        raise UserError(f"run {run.id}: its folder cannot be read; lengthlab runs says why")
    return Facts(
        name=name,
        task=config.task.kind,
        recipe=recipe_of(run),
        run=run.id,
        seed=own.seed,
        parameters=parameters,
        trained_digits=config.training.digits,
        steps=config.training.steps,
        chosen=chosen,
        tried=_siblings(own, records),
        scores=[Score.model_validate({key: row[key] for key in Score.model_fields}) for row in rows],
        told=told_by_code(config),
    )


def told_by_code(config: Config) -> list[str]:
    """What the model is given rather than has found out, as whole sentences."""
    return [f"{sentence[0].upper()}{sentence[1:]}." for sentence in aid_sentences(config)]


def recipe_of(run: Run) -> str:
    """The recipe that a run was started from; if that was not kept, the preset that it is but for seeds and tests."""
    if run.recipe:
        return run.recipe
    config = run.config
    for name in recipe_names():
        preset = load_config(name)
        if preset.model_copy(update={"seeds": config.seeds, "evaluation": config.evaluation}) == config:
            return name
    return "a recipe of its own"


def _siblings(own: Record, records: list[Record]) -> list[Sibling]:
    """All runs that differ from this one in their seeds alone, itself included, by seed."""
    family = [record for record in records if record.row["setting"] == own.row["setting"]]
    tested = [set(record.scores) for record in family if record.scores]
    common = [length for length in sorted(own.scores) if all(length in lengths for lengths in tested)]
    shown = [length for length in common if length in (own.row["trained_digits"], common[-1])]
    return [
        Sibling(
            run=record.id,
            seed=record.seed,
            state=record.row["state"],
            at={length: record.scores[length] for length in shown if length in record.scores},
        )
        for record in sorted(family, key=lambda record: record.seed)
    ]
