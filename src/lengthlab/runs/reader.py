"""The one reader of run folders: each file checked, each run as a `Record`.

    config.yaml, status.json, metrics.jsonl, ... -> Record -> SQL, result tables, comparisons over seeds

Damage is either raised, as it is where numbers are made of a run, or remembered while everything else is read, as in
`read_runs`: one bad folder never hides the others.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import fmean, median
from typing import Any, NoReturn

from lengthlab.runs import seal
from lengthlab.runs.columns import Row, is_number, is_whole, settings_of
from lengthlab.runs.files import Damaged, parse_yaml, read_json, read_rows, read_text
from lengthlab.runs.lock import state_now
from lengthlab.runs.weights import read_parameters

Check = Callable[[Any], bool]


def _needs(**fields: Check) -> Callable[[Any], str]:
    """A check of rows that need these fields: the first that is missing or wrong is named."""

    def check(row: Any) -> str:
        wrong = (name for name, fits in fields.items() if not isinstance(row, dict) or not fits(row.get(name)))
        return f"no {name}" if (name := next(wrong, None)) else ""

    return check


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_step(value: Any) -> bool:
    return is_whole(value) and value >= 0


def _is_share(value: Any) -> bool:
    return is_number(value) and 0 <= value <= 1


METRICS = _needs(step=_is_step)
SPEED = _needs(step=_is_step, tokens_per_second=is_number)
STARTS = _needs(time=is_number, after_step=_is_step)
SCORES = _needs(digits=lambda value: is_whole(value) and value > 0, exact_match=_is_share, weights=_is_text)
ERRORS = _needs(
    digits=_is_step, examples=_is_step, wrong=_is_step, measure=_is_text, key=_is_text, value=is_number
)  # fmt: skip
_STATUS: dict[str, Check] = {"state": _is_text, "recipe": _is_text, "message": _is_text, "step": _is_step}
_STATUS |= {"time": is_number, "config_sha256": _is_text, "parameters": is_whole}
_STATUS |= {"best": lambda value: not _needs(exact_match=_is_share, step=_is_step)(value)}


def read_status(path: Path) -> Row:
    """What status.json says; known fields with a value of another kind are left out. Empty before there is one."""
    status = _optional(read_json, path, {})
    if not isinstance(status, dict):
        raise Damaged(path, "no status")
    if not seal.is_intact(status) and not seal.trusted():
        raise Damaged(path, seal.CHANGED)
    return {name: value for name, value in status.items() if _STATUS.get(name, lambda _: True)(value)}


def read_list(path: Path, check: Callable[[Any], str]) -> tuple[list[Row], list[tuple[int, str]]]:
    """The sound rows of a JSON list, and the number and reason of each other; none if there is no file."""
    rows = _optional(read_json, path, [])
    if not isinstance(rows, list):
        raise Damaged(path, "no rows")
    reasons = [check(row) for row in rows]
    broken = [(number, reason) for number, reason in enumerate(reasons, start=1) if reason]
    return [row for row, reason in zip(rows, reasons, strict=True) if not reason], broken


def read_config(path: Path, sha256: str | None) -> Row:
    """A run's config as plain data; `sha256` is the checksum that was kept when training began, if there is one."""
    text = read_text(path)
    if sha256 is not None and checksum(text) != sha256 and not seal.trusted():
        cure = "put the old one back, or train the run again with --fresh; --trust uses it as it is"
        raise Damaged(path, "changed since training began", cure=cure)
    config = parse_yaml(path, text)
    if not isinstance(config, dict):
        raise Damaged(path, "no config")
    return config


def checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _optional(read: Callable[[Path], Any], path: Path, otherwise: Any) -> Any:
    try:
        return read(path)
    except FileNotFoundError:
        return otherwise


@dataclass(frozen=True)
class Record:
    """One run: its row of the table `runs` and its rows of the other tables."""

    row: Row
    scores: dict[int, float]  # {length: exact match} with the last weights, or else the first that were tested
    evaluation: list[Row]
    metrics: list[Row]

    @property
    def id(self) -> str:
        return self.row["id"]

    @property
    def seed(self) -> str:
        """Its seeds as a name: "3", or "3/1/1" (weights/data/sampling) if they are not the same.

        The order of a finite training set comes last, if it is not 0.
        """
        seeds = [str(self.row[f"seed_{kind}"]) for kind in ("weights", "data", "sampling")]
        if order := self.row["config"]["seeds"].get("order"):
            return "/".join([*seeds, str(order)])
        return seeds[0] if len(set(seeds)) == 1 else "/".join(seeds)

    @property
    def logged(self) -> list[Row]:
        """The lines of metrics that have a training loss."""
        return _logged(self.metrics)


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
        return sentence.encode(errors="replace").decode()  # file names can be anything


def read_runs(folder: Path) -> Loaded:
    """Every run in `folder` as it is now: one whose process is gone is stopped. A folder that is not there has none."""
    loaded = Loaded(folder)
    if not folder.exists():
        return loaded
    for path in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        if not (path / "config.yaml").exists():
            loaded.skipped.append(Skipped(path.name, "no config.yaml: not a run"))
            continue

        def remember(damage: Damaged) -> None:
            place = damage.path.relative_to(folder).as_posix()
            loaded.skipped.append(Skipped(place, damage.reason, damage.rows))

        if record := read_run(path, remember):
            record.row["state"] = state_now(path, record.row["state"])
            loaded.records.append(record)
    loaded.records.sort(key=lambda record: (record.row["started"] or record.row["ended"] or "", record.id))
    return loaded


def _raise(damage: Damaged) -> NoReturn:
    raise damage


def read_run(path: Path, report: Callable[[Damaged], None] = _raise) -> Record | None:
    """A run's record; damage is reported and what can be read is used. None if there is no telling what was run."""

    def attempt(name: str, read: Callable[[Path], Any], otherwise: Any) -> Any:
        try:
            return _optional(read, path / name, otherwise)
        except Damaged as damage:
            report(damage)
            return otherwise

    def rows(name: str, read: Callable[..., tuple[list[Row], list[tuple[int, str]]]], check: Any) -> list[Row]:
        found = attempt(name, lambda file: read(file, check), None)
        if found is None:  # that it is damaged is reported
            return []
        sound, broken = found
        if not broken and not seal.trusted() and (changed := seal.reason(path / name, status)):
            report(Damaged(path / name, changed))
            return []  # there is no telling which
        for reason, count in Counter(reason for _, reason in broken).items():
            report(Damaged(path / name, reason, count, "remove those lines"))
        return sound

    def stated(file: Path) -> Row:
        found = read_status(file)
        if "state" not in found and (path / "starts.jsonl").exists():
            raise Damaged(file, "no state")
        return found

    status: Row = attempt("status.json", stated, {})
    config = attempt("config.yaml", lambda file: read_config(file, status.get("config_sha256")), None)
    if config is None:
        if not (path / "config.yaml").exists():
            report(Damaged(path / "config.yaml", seal.MISSING))
        return None
    try:
        row = settings_of(config) | {"setting": _setting_hash(config), "config": config}
    except (ValueError, TypeError) as error:
        report(Damaged(path / "config.yaml", f"of another version: {error}"))
        return None
    metrics, speed = rows("metrics.jsonl", read_rows, METRICS), rows("speed.jsonl", read_rows, SPEED)
    evaluation = rows("evaluation.json", read_list, SCORES)
    environment = attempt("environment.json", lambda file: seal.require(file, status) or read_json(file), {})
    logged = _logged(metrics)
    weights, scores = _chosen(evaluation)
    row |= {
        "id": path.name,
        "state": status.get("state", "unknown"),
        "recipe": status.get("recipe") or None,
        "step": max(status.get("step", 0), metrics[-1]["step"] if metrics else 0),
        "parameters": attempt("model.safetensors", lambda file: _parameters(file, status), None),
        "message": status.get("message") or None,
        "machine": environment.get("cpu") if isinstance(environment, dict) else None,
        "weights": weights,
        **_training(logged, [line["tokens_per_second"] for line in speed]),
        **_times(rows("starts.jsonl", read_rows, STARTS), status),
    }
    named = {"id": path.name}
    return Record(row, scores, [line | named for line in evaluation], [line | named for line in metrics])


def _parameters(path: Path, status: Row) -> int | None:
    if not path.exists() and status.get("state") != "running" and (missing := seal.reason(path, status)):
        raise Damaged(path, missing)
    found = read_parameters(path)
    if status.get("parameters", found) != found and not seal.trusted():
        raise Damaged(path, seal.CHANGED)
    return found


def _setting_hash(config: Row) -> str:
    without_seeds = config | {"seeds": {"test": config["seeds"].get("test")}}
    return checksum(json.dumps(without_seeds, sort_keys=True, allow_nan=False))[:10]


def _logged(metrics: list[Row]) -> list[Row]:
    return [line for line in metrics if is_number(line.get("loss"))]


def _training(logged: list[Row], speeds: list[float]) -> Row:
    """How training went: counts, seconds at the median speed, loss over the last tenth of the logged steps."""
    last = logged[-1] if logged else {}
    counts = {name: last[name] if _is_step(last.get(name)) else 0 for name in ("examples", "tokens")}
    positive = [speed for speed in speeds if speed > 0]
    end = logged[-max(1, len(logged) // 10) :]
    accuracy = last.get("accuracy")
    return counts | {
        "seconds": round(counts["tokens"] / median(positive), 1) if positive and logged else None,
        "final_loss": fmean(line["loss"] for line in end) if end else None,
        "final_accuracy": accuracy if is_number(accuracy) else None,
    }


def _chosen(evaluation: list[Row]) -> tuple[str | None, dict[int, float]]:
    """Of uniform problems with the last weights if they were tested, or else of whatever was tested first."""
    tests = [(row["weights"], row.get("chain") or 0) for row in evaluation]
    if not tests:
        return None, {}
    chosen = ("last", 0) if ("last", 0) in tests else tests[0]
    found = {row["digits"]: row["exact_match"] for test, row in zip(tests, evaluation, strict=True) if test == chosen}
    return chosen[0], dict(sorted(found.items()))


def _times(starts: list[Row], status: Row) -> Row:
    """When training first began (--fresh counts as first) and when it ended; copying a folder changes neither."""
    first = [line["time"] for line in starts if line["after_step"] == 0]
    ended = status.get("time") if status.get("state") != "running" else None
    return {"started": _moment(first[-1] if first else None), "ended": _moment(ended)}


def _moment(seconds: float | None) -> str | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds).isoformat(sep=" ", timespec="seconds")
    except (ValueError, OSError, OverflowError):
        return None
