"""From run folders to plain records. What is damaged, half-written or foreign is left out and remembered."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from lengthlab.runs_table.columns import is_number
from lengthlab.runs_table.files import (
    Damaged,
    Row,
    read_config,
    read_evaluation,
    read_metrics,
    read_parameters,
    read_status,
)


@dataclass(frozen=True)
class Record:
    """One run: its row of the table `runs` and its lines of the others."""

    row: Row
    scores: dict[int, float]  # {length: exact match} with the last weights, or else the first that were tested
    evaluation: list[Row]
    metrics: list[Row]

    @property
    def id(self) -> str:
        return self.row["id"]

    @property
    def seed(self) -> str:
        """Its seeds as a name: "3", or "3/1/1" (weights/data/sampling) if they are not the same."""
        seeds = [str(self.row[f"seed_{kind}"]) for kind in ("weights", "data", "sampling")]
        return seeds[0] if len(set(seeds)) == 1 else "/".join(seeds)


@dataclass(frozen=True)
class Skipped:
    """Something that could not be used: where, why, and how many rows of it."""

    place: str
    reason: str
    rows: int = 0  # 0 for a whole file or folder

    def __str__(self) -> str:
        rows = f"{self.rows} row{'s' if self.rows > 1 else ''}: " if self.rows else ""
        return f"{self.place} ({rows}{self.reason})"


@dataclass(frozen=True)
class Loaded:
    """All records of a folder, oldest first, and everything that was skipped."""

    folder: Path
    records: list[Record] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    @property
    def complaint(self) -> str | None:
        """One sentence about what was skipped; None if nothing was."""
        if not self.skipped:
            return None
        count, shown = sum(max(1, skipped.rows) for skipped in self.skipped), self.skipped[:5]
        more = f", and {len(self.skipped) - len(shown)} more" if len(self.skipped) > len(shown) else ""
        sentence = (
            f"skipped {count} damaged or foreign row{'s' if count > 1 else ''}: {', '.join(map(str, shown))}{more}"
        )
        return sentence.encode(errors="replace").decode()  # names of files can be anything


def read_runs(folder: Path) -> Loaded:
    """Read every run folder in `folder`; a folder that does not exist has none."""
    loaded = Loaded(folder)
    if not folder.exists():
        return loaded
    for path in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        if record := _read_run(path, loaded.skipped):
            loaded.records.append(record)
    loaded.records.sort(key=lambda record: (record.row["started"] or record.row["ended"] or "", record.id))
    return loaded


def _read_run(path: Path, skipped: list[Skipped]) -> Record | None:
    """A run's record, or None if there is no telling what was run."""

    def read(name: str, how: Callable[[Path], Any], otherwise: Any) -> Any:
        """`how` of one of the run's files; `otherwise` if it is not there, or damaged, which is remembered."""
        try:
            return how(path / name)
        except FileNotFoundError:
            return otherwise
        except (OSError, Damaged) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            skipped.append(Skipped(f"{path.name}/{name}", str(reason)))
            return otherwise

    def read_rows(name: str, how: Callable[[Path], tuple[list[Row], list[str]]]) -> list[Row]:
        """The good rows of a file; the bad ones are remembered, as many as there are of each kind."""
        rows, broken = read(name, how, ([], []))
        skipped.extend(Skipped(f"{path.name}/{name}", reason, count) for reason, count in Counter(broken).items())
        return rows

    if not (path / "config.yaml").exists():
        skipped.append(Skipped(path.name, "no config.yaml: not a run"))
        return None
    described = read("config.yaml", read_config, None)
    written = read("config.yaml", lambda file: file.stat().st_mtime, None)
    if described is None or written is None:
        return None
    status: Row = read("status.json", read_status, {})
    metrics = read_rows("metrics.jsonl", read_metrics)
    evaluation = read_rows("evaluation.json", read_evaluation)
    losses = [line for line in metrics if is_number(line.get("loss"))]
    weights, scores = _chosen(evaluation)
    row = {
        "id": path.name,
        "state": status.get("state", "unknown"),
        "step": max(status.get("step", 0), metrics[-1]["step"] if metrics else 0),
        **described,
        **_times(written, status),
        "parameters": read("model.safetensors", read_parameters, None),
        "final_loss": losses[-1]["loss"] if losses else None,
        "final_accuracy": losses[-1].get("accuracy") if losses else None,
        "message": status.get("message") or None,
        "weights": weights,
    }
    named = {"id": path.name}
    return Record(row, scores, [line | named for line in evaluation], [line | named for line in metrics])


def _chosen(evaluation: list[Row]) -> tuple[str | None, dict[int, float]]:
    """Of uniform problems with the last weights if they were tested, or else of whatever was tested first."""
    tests = [(row["weights"], row.get("chain") or 0) for row in evaluation]
    if not tests:
        return None, {}
    chosen = ("last", 0) if ("last", 0) in tests else tests[0]
    found = {row["digits"]: row["exact_match"] for test, row in zip(tests, evaluation, strict=True) if test == chosen}
    return chosen[0], dict(sorted(found.items()))


def _times(written: float, status: Row) -> Row:
    """When it began (config.yaml was `written` then, and only then), when it ended, and the minutes between."""
    told = status.get("time")
    running = status.get("state") == "running"
    started = written if told is None or written <= told + 1 else told if running else None  # a copy has a later time
    ended = None if running else told
    minutes = (ended - started) / 60 if ended is not None and started is not None else None
    return {"started": _moment(started), "ended": _moment(ended), "minutes": minutes}


def _moment(seconds: float | None) -> str | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds).isoformat(sep=" ", timespec="seconds")
    except (ValueError, OSError, OverflowError):
        return None
