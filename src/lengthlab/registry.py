"""Named variants of one axis (a task, an encoding, ...), each with a one-line description.

A variant is one file plus one line in its package's `__init__.py`:

    ENCODINGS.add("fire", "fire:Fire", "a learned function of the normalised log distance")

The line names the class without importing it, so listing variants costs nothing; the command line,
the documentation tables and the contract tests all read the registry.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from lengthlab.errors import UserError, suggestion


@dataclass(frozen=True)
class Entry:
    """One registered variant."""

    name: str
    location: str
    description: str

    def load(self) -> Any:
        """Import and return the class."""
        module, _, attribute = self.location.partition(":")
        return getattr(import_module(module), attribute)


class Registry:
    """The variants of one axis, in the order in which they were added."""

    def __init__(self, noun: str, package: str) -> None:
        self.noun = noun
        self.package = package
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, location: str, description: str) -> None:
        """Register `location` ("module:Class", relative to the package) under `name`."""
        if name in self._entries:
            raise ValueError(f"{self.noun} {name!r} is registered twice")
        self._entries[name] = Entry(name, f"{self.package}.{location}", description)

    def names(self) -> list[str]:
        return list(self._entries)

    def entries(self) -> list[Entry]:
        return list(self._entries.values())

    def __getitem__(self, name: str) -> Entry:
        if name not in self._entries:
            raise UserError(f"unknown {self.noun} {name!r}; {suggestion(name, self._entries)}")
        return self._entries[name]
