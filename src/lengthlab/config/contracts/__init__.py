"""What every variant of an axis must keep, as functions that raise AssertionError.

The tests hold everything registered to them; `lengthlab check my_ideas.py` holds a plugin to them.
"""

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from lengthlab.config.plugins import place_of
from lengthlab.errors import UserError

Options = dict[str, Any]
Contract = Callable[[str, Options], None]  # of a variant's name and options of its own
_TOGETHER = {"attentions": "choices", "schedules": "choices"}  # small axes share a module; each other has its own


@dataclass(frozen=True)
class ContractResult:
    """What became of one contract of one variant; `failure` says how it was broken."""

    axis: str
    variant: str
    options: Options
    contract: str
    failure: str | None


def contracts_of(axis: str) -> list[Contract]:
    """The contracts of an axis."""
    return getattr(_module(axis), f"OF_{axis.upper()}")


def options_to_try(axis: str, name: str) -> list[Options]:
    """The options that a variant's contracts are checked with: its own, and what its axis wants tried besides."""
    module = _module(axis)
    return module.to_try(name) if hasattr(module, "to_try") else [{}]


def check_variant(axis: str, name: str) -> Iterator[ContractResult]:
    """Every contract of a variant, one after the other."""
    for options in options_to_try(axis, name):
        for contract in contracts_of(axis):
            yield ContractResult(axis, name, options, contract.__name__, _failure(contract, name, options))


def _module(axis: str) -> ModuleType:
    return import_module(f"lengthlab.config.contracts.{_TOGETHER.get(axis, axis)}")


def _failure(contract: Contract, name: str, options: Options) -> str | None:
    try:
        contract(name, options)
    except UserError as error:
        return str(error)
    except Exception as error:  # of code that is on trial: whatever it raises is a finding
        frames = traceback.extract_tb(error.__traceback__)
        last = next(frame for frame in reversed(frames) if "site-packages" not in frame.filename)  # not within torch
        reason = " ".join(str(error).split()) or f"{last.line}"
        place = place_of(error) or f"{last.filename}, line {last.lineno}"
        return f"{type(error).__name__}: {reason[:300]} ({place})"
    return None
