"""What runs and result tables say: the table of runs, their curves, comparisons over seeds, claims with verdicts."""

from functools import lru_cache
from math import isfinite
from pathlib import Path

from lengthlab.paper.claims import load_claims
from lengthlab.paper.experiment import load_experiment
from lengthlab.paper.tables import Results
from lengthlab.runs.database import Database
from lengthlab.runs.groups import compare_groups, select
from lengthlab.runs.reader import Loaded, Record
from lengthlab.runs.run import Run
from lengthlab.tasks import adds_two_numbers
from lengthlab.web.models import run_model, setting_title
from lengthlab.web.schema import Claim, Claims, Compared, Curves, Group, RunRow, RunTable

SECONDS = 5.0  # that a condition may take
POINTS = 400  # of a loss curve


def run_table(loaded: Loaded, condition: str) -> RunTable:
    """The runs that meet a condition, the newest first."""
    rows = [run_row(record, loaded.folder) for record in reversed(chosen_by(loaded, condition))]
    return RunTable(runs=rows, total=len(loaded.records), note=loaded.complaint)


def run_row(record: Record, folder: Path) -> RunRow:
    row = record.row
    dead = row["state"] in ("stopped", "interrupted")
    return RunRow(
        id=record.id,
        state=row["state"],
        step=row["step"],
        steps=row["steps"],
        title=setting_title(row),
        setting=row["setting"],
        encoding=row["encoding"],
        positions=row["positions"],
        seed=record.seed,
        trained_digits=row["trained_digits"],
        started=row.get("started") or row.get("ended"),
        loss=_finite(row["final_loss"]),
        message=row["message"],
        scores=record.scores,
        resume=Run(folder / record.id).resume_command if dead else None,
        asks=row["parameters"] is not None and adds_two_numbers(row["config"]["task"]),
    )


def chosen_by(loaded: Loaded, condition: str) -> list[Record]:
    """The records that meet a condition, which may take a few seconds and no longer."""
    return select(loaded, Database(loaded, metrics=False, seconds=SECONDS), condition)


def curves(record: Record) -> Curves:
    """Exact match by length, and the loss at no more points than can be seen."""
    row, loss = record.row, []
    progress: dict[int, list[tuple[int, float]]] = {}
    for line in record.metrics:
        value = _finite(line.get("loss"))
        if value is not None:
            loss.append((line["step"], value))
        for digits, score in (line.get("exact_match") or {}).items():
            if str(digits).isdigit() and _finite(score) is not None:
                progress.setdefault(int(digits), []).append((line["step"], score))
    return Curves(
        id=record.id,
        title=setting_title(row),
        seed=record.seed,
        state=row["state"],
        step=row["step"],
        steps=row["steps"],
        trained_digits=row["trained_digits"],
        scores=run_model(record).scores,
        loss=loss[:: -(-len(loss) // POINTS) or 1],
        progress=progress,
    )


def compared(loaded: Loaded, a: str, b: str, digits: int) -> Compared:
    """Two groups of runs at one length, each over its seeds."""
    result = compare_groups(loaded, a, b, digits, seconds=SECONDS)
    sides = []
    for name, condition, members, summary in zip(result.names, (a, b), result.runs, result.summaries, strict=True):
        tested = [record for record in loaded.records if record.id in members and digits in record.scores]
        scores = {record.seed: record.scores[digits] for record in tested}
        runs = [record.id for record in tested]
        sides.append(Group(name=name, condition=condition, runs=runs, scores=scores, sentence=summary.sentence))
    return Compared(digits=digits, groups=sides, sentence=result.result.sentence, notes=result.notes)


def claims(folder: Path) -> Claims:
    """Every claim with its verdict from the tables of a folder."""
    if not (folder / "members.csv").is_file():
        note = f"There are no result tables in {folder}; lengthlab reproduce all makes them."
        return Claims(folder=str(folder), claims=[], note=note)
    written = tuple(sorted((file.name, file.stat().st_mtime_ns) for file in folder.glob("*.csv")))
    return _judged(folder, written)


@lru_cache(maxsize=4)
def _judged(folder: Path, written: tuple[tuple[str, int], ...]) -> Claims:
    """The verdicts of tables `written` then; judging takes seconds."""
    results = Results(folder)
    found = []
    for claim in load_claims().values():
        verdict = claim.judge(results)
        figure = folder / "figures" / f"{verdict.experiment}.png"
        found.append(
            Claim(
                id=verdict.id,
                sentence=verdict.sentence,
                experiment=verdict.experiment,
                question=load_experiment(verdict.experiment).question,
                rule=verdict.rule,
                finding=verdict.finding,
                parts=verdict.as_dict()["parts"],
                seeds=verdict.seeds,
                figure=figure.name if figure.is_file() else None,
                runs=[member.run for member in results.members(verdict.experiment)],
            )
        )
    return Claims(folder=str(folder), claims=found, note=None)


def _finite(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and isfinite(value) else None
