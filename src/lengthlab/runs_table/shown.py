"""Which columns a terminal has room for, and how cells are written."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lengthlab.runs_table.columns import SEEDS, SETTINGS
from lengthlab.runs_table.over_seeds import telling_lengths

FIRST = ("id", "encoding", "positions")  # then the scores, then the rest, as far as there is room
REST = (
    "state",
    "seed_weights",
    *(column.name for column in SETTINGS if column.name not in FIRST),
    *(column.name for column in SEEDS[1:]),
    "final_loss",
    "minutes",
    "step",
    "final_accuracy",
    "started",
    "parameters",
)
PADDING = 2


@dataclass(frozen=True)
class View:
    """The columns to show, what is the same in all rows, what follows from another column, and what has no room."""

    columns: list[str]
    constant: dict[str, Any]
    same_as_weights: list[str]
    left_out: list[str]


def header(name: str) -> str:
    """A column's name on several lines if it is long, so that narrow numbers can stand beneath it."""
    return name.replace("_", "_\n") if len(name) > 8 else name


def cell(name: str, value: Any) -> str:
    """A value as text: scores in percent, times without seconds, numbers with the digits that matter."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, float):
        if re.match(r"exact_match|final_accuracy|accuracy|low$|high$", name):
            return f"{value:.1%}"
        return f"{value:.1f}" if name == "minutes" else f"{value:.4g}"
    return str(value)


def view(rows: Sequence[dict[str, Any]], width: int) -> View:
    """Choose columns of `runs` that tell these rows apart and fit into `width` characters."""
    varying = {name for name in (*FIRST, *REST) if len({row[name] for row in rows} - {None}) > 1}
    constant: dict[str, Any] = {}
    if len(rows) > 1:
        named = (column.name for column in SETTINGS)
        constant = {name: _any(rows, name) for name in named if name not in varying and _any(rows, name) is not None}
    same = [column.name for column in SEEDS[1:] if all(row[column.name] == row[SEEDS[0].name] for row in rows)]
    shown = [name for name in (*FIRST, *REST) if name in varying or len(rows) == 1]
    shown = [name for name in shown if name not in same and any(row[name] is not None for row in rows)]
    first = [name for name in FIRST if name in shown or name == "id"]
    wanted = [*first, *_scores(rows), *(name for name in shown if name not in first)]
    chosen, room = [], width - 2
    for name in wanted:
        lines = [*header(name).split("\n"), *(cell(name, row[name]) for row in rows)]
        needed = PADDING + max(map(len, lines))
        if needed <= room:
            chosen.append(name)
            room -= needed
    order = list(rows[0])
    left_out = [name for name in wanted if name not in chosen]
    return View(sorted(chosen, key=order.index), constant, same, left_out)


def _any(rows: Sequence[dict[str, Any]], name: str) -> Any:
    return next((row[name] for row in rows if row[name] is not None), None)


def _scores(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The columns of a few lengths, among those that half of the tested rows have."""
    scored = [row for row in rows if row["weights"] is not None]
    names = [name for name in rows[0] if name.startswith("exact_match_")]
    usual = [name for name in names if 2 * sum(row[name] is not None for row in scored) >= max(1, len(scored))]
    lengths = [int(name.removeprefix("exact_match_")) for name in usual]
    trained = max((row["trained_digits"] for row in scored), default=1)
    return [f"exact_match_{length}" for length in telling_lengths(trained, lengths)]
