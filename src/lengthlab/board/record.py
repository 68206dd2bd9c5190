"""A row of the board: what was measured for every seed, what follows from it, and a checksum over all of it.

The checksum shows whether a row is what was written: it finds a slip of an editor, a broken merge. It does not show who
wrote it or that anything was run, since anyone who changes a row can recompute it: `board verify --retrain` does that.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lengthlab.errors import UserError
from lengthlab.runs.files import read_json, write_json
from lengthlab.statistics import generalization

LEVEL = 0.99  # exact match from which a length counts
FEWEST_SEEDS = 5  # of a row that is ranked


class StrictModel(BaseModel):
    """Rows are read as they were written or not at all."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class LengthScore(StrictModel):
    """How many sums of one length were answered right."""

    digits: int = Field(ge=1)
    examples: int = Field(ge=1)
    right: int = Field(ge=0)

    @property
    def share(self) -> float:
        return self.right / self.examples


class SeedResult(StrictModel):
    """One trained model."""

    seed: int
    run: str = Field(description="the id of its run: a hash of all its settings")
    steps: int
    examples: int = Field(description="problems trained on")
    tokens: int
    core_minutes: float = Field(description="of training, tests not counted")
    timing: Literal["processor time", "median speed"] = Field(description="how the core-minutes were measured")
    precision: str
    machine: str
    commit: str | None
    scores: list[LengthScore] = Field(min_length=1, description="up the ladder, as far as it got")

    def reach(self, trained: int) -> int:
        """The longest tested length with 99% or more, all shorter tested ones included; 0 if there is none."""
        return generalization({score.digits: score.share for score in self.scores}, trained, LEVEL).longest

    @property
    def failed(self) -> bool:
        """Whether it stopped at a length it got wrong, rather than at the end of the ladder or of what it can read."""
        return self.scores[-1].share < LEVEL


class AidLine(StrictModel):
    """One thing that the model is given."""

    question: str
    sentence: str


class BoardRecord(StrictModel):
    """A row. The fields after `seeds` follow from those before."""

    version: Literal[1] = 1
    name: str
    recipe: str = Field(description="the recipe that it came from; NAME.yaml beside the row holds all of it")
    recipe_sha256: str = Field(description="of NAME.yaml")
    config: str = Field(description="the id of that recipe without a seed")
    made: str = Field(description="the day")
    commit: str | None = Field(description="of the code that wrote the row; + if files differed from it")
    trained_digits: int
    parameters: int
    aids: list[AidLine]
    unaided: bool
    seeds: list[SeedResult] = Field(min_length=1)
    reach: int = Field(description="digits: the shortest of all seeds")
    open_end: bool = Field(description="whether no seed failed at any length that was tested")
    core_minutes: float = Field(description="the mean over seeds")
    sha256: str = Field(default="", description="of the row without this")

    @property
    def times(self) -> float:
        """How far beyond the training length."""
        return self.reach / self.trained_digits

    @property
    def minutes(self) -> str:
        """Core-minutes for a table; a limit where the time on the clock was measured, on a machine that may be busy.

        Of a process with one thread it is never less than its processor time.
        """
        measured = all(seed.timing == "processor time" for seed in self.seeds)
        return f"{'' if measured else 'at most '}{self.core_minutes:.1f}"

    @property
    def ranked(self) -> bool:
        return len(self.seeds) >= FEWEST_SEEDS

    @property
    def machines(self) -> list[str]:
        return list(dict.fromkeys(seed.machine for seed in self.seeds))


def derived(seeds: Iterable[SeedResult], trained: int) -> dict[str, Any]:
    """What follows from the seeds."""
    found = list(seeds)
    return {
        "reach": min(seed.reach(trained) for seed in found),
        "open_end": not any(seed.failed for seed in found),
        "core_minutes": round(fmean(seed.core_minutes for seed in found), 2),
    }


def checksum(record: BoardRecord) -> str:
    """SHA-256 over everything in a row but itself."""
    content = record.model_dump(mode="json", exclude={"sha256"})
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def sealed(record: BoardRecord) -> BoardRecord:
    return record.model_copy(update={"sha256": checksum(record)})


def write_record(folder: Path, record: BoardRecord) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record.name}.json"
    write_json(path, record.model_dump(mode="json"))
    return path


def read_record(path: Path) -> BoardRecord:
    """A row from its file, whether or not its checksum fits; an error names a file that is not one."""
    try:
        return BoardRecord.model_validate(read_json(path))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "all of it"
        raise UserError(f"{path} is not a row of the board ({place}: {first['msg']})") from None


def read_board(folder: Path) -> tuple[list[BoardRecord], list[str]]:
    """All sound rows of a folder by name, and a sentence for each of the others."""
    records, problems = [], []
    for path in sorted(folder.glob("*.json")):
        try:
            record = read_record(path)
        except UserError as error:
            problems.append(" ".join(str(error).split()))
            continue
        if record.sha256 != checksum(record) or record.name != path.stem:
            problems.append(f"{path}: changed since it was written; lengthlab board verify says more")
        else:
            records.append(record)
    return records, problems
