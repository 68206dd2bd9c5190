"""The files of a run as plain data. What cannot be understood is `Damaged`, with the reason in a few words."""

import hashlib
import json
from collections.abc import Callable, Iterable
from math import prod
from pathlib import Path
from typing import Any

import yaml

from lengthlab.runs_table.columns import is_number, is_whole, settings_of

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where libyaml is there
Row = dict[str, Any]


class Damaged(Exception):
    """The message says what is wrong, in a few words."""


def _parse(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        raise Damaged("not valid JSON") from None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except ValueError:
        raise Damaged("not text") from None


def read_config(file: Path) -> Row:
    """The settings and seeds by column, the whole config as JSON, and the hash of all but its seeds."""
    try:
        config = yaml.load(_text(file), Loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise Damaged("not valid YAML") from None
    if not isinstance(config, dict):
        raise Damaged("no config")
    try:
        row = settings_of(config)
        test = config["seeds"].get("test")
        setting = json.dumps(config | {"seeds": {"test": test}}, sort_keys=True, allow_nan=False)
        return row | {"setting": hashlib.sha256(setting.encode()).hexdigest()[:10], "config": config}
    except (ValueError, TypeError) as error:
        raise Damaged(f"of another version: {error}") from None


def read_status(file: Path) -> Row:
    status = _parse(_text(file))
    if not isinstance(status, dict):
        raise Damaged("no status")
    kinds = {"state": str, "time": (int, float), "step": int, "message": str}
    return {name: status[name] for name, kind in kinds.items() if isinstance(status.get(name), kind)}


def read_metrics(file: Path) -> tuple[list[Row], list[str]]:
    """The whole lines of metrics.jsonl, and what is wrong with each of the others."""
    lines = filter(None, _text(file).split("\n"))
    return _kept(lines, lambda line: _checked(_parse(line), step=is_whole))


def read_evaluation(file: Path) -> tuple[list[Row], list[str]]:
    """The whole rows of evaluation.json, and what is wrong with each of the others."""
    rows = _parse(_text(file))
    if not isinstance(rows, list):
        raise Damaged("no rows")
    return _kept(rows, lambda row: _checked(row, digits=_is_length, exact_match=_is_share, weights=_is_name))


def _kept(values: Iterable[Any], check: Callable[[Any], Row]) -> tuple[list[Row], list[str]]:
    good: list[Row] = []
    broken: list[str] = []
    for value in values:
        try:
            good.append(check(value))
        except Damaged as error:
            broken.append(str(error))
    return good, broken


def _checked(value: Any, **needed: Callable[[Any], bool]) -> Row:
    for name, is_right in needed.items():
        if not isinstance(value, dict) or not is_right(value.get(name)):
            raise Damaged(f"no {name}")
    return value


def _is_length(value: Any) -> bool:
    return is_whole(value) and value > 0


def _is_share(value: Any) -> bool:
    return is_number(value) and not isinstance(value, str) and 0 <= value <= 1


def _is_name(value: Any) -> bool:
    return isinstance(value, str)


def read_parameters(file: Path) -> int:
    """How many weights a safetensors file holds, from the shapes in its head."""
    with open(file, "rb") as opened:
        size = int.from_bytes(opened.read(8), "little")
        head = opened.read(size) if size <= file.stat().st_size else b""
    try:
        shapes = [entry["shape"] for name, entry in json.loads(head).items() if name != "__metadata__"]
        return sum(map(prod, shapes))
    except (ValueError, AttributeError, TypeError, KeyError):
        raise Damaged("not safetensors") from None
