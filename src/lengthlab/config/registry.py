"""Named variants of one axis (a task, an encoding, ...), each with a one-line description.

A variant is one file plus one line in its package's `__init__.py`:

    ENCODINGS.add("fire", "fire:Fire", "a learned function of the normalised log distance")

The line names the class without importing it, so listing variants costs nothing; the command line, the documentation
tables and the contract tests all read the registry. A plugin adds the class itself, as in `ENCODINGS.add("mine", Mine,
"...")`.

A variant has its options as `options_class`. Where importing variants brings torch, a package may also list the options
of its own in a mapping by name (`Registry(..., options="options:OPTIONS")`), so that a config can be read without.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from typing import Any

from lengthlab.config.sections import Options
from lengthlab.errors import UserError, suggestion


def _at(location: str) -> Any:
    module, _, attribute = location.partition(":")
    return getattr(import_module(module), attribute)


def plain(name: str) -> str:
    """A name without its case and its hyphens: KerpleLog, kerple_log and kerple-log are one."""
    return re.sub(r"[\W_]", "", name).lower()


@dataclass(frozen=True)
class Entry:
    """One registered variant."""

    name: str
    location: str  # "module:Class"
    description: str
    listed_options: str | None = None  # "module:MAPPING" in which its options may be found by name

    @property
    def module(self) -> str:
        return self.location.partition(":")[0]

    @property
    def class_name(self) -> str:
        return self.location.partition(":")[2]

    def load(self) -> Any:
        """Import and return the class."""
        return _at(self.location)

    @cached_property
    def options_class(self) -> type[Options]:
        """The class of its options."""
        listed = _at(self.listed_options).get(self.name) if self.listed_options else None
        return listed or self.load().options_class


class Registry:
    """The variants of one axis, in the order in which they were added."""

    def __init__(self, noun: str, package: str, default: str, options: str | None = None) -> None:
        """`noun` is also the axis' key in a config; `default` is the variant of a config that names none."""
        self.noun = noun
        self.options = f"{package}.{options}" if options else None
        self.package = package
        self.default = default
        self._entries: dict[str, Entry] = {}
        self._known_as: dict[str, str] = {}

    def add(self, name: str, target: str | Callable[..., Any], description: str) -> None:
        """Register `target` under `name`: a class or function, or where it is ("module:Class" within the package)."""
        self.also_known_as(name, name)
        self.point(name, target, description)

    def point(self, name: str, target: str | Callable[..., Any], description: str) -> None:
        """Let `name` stand for `target`, whatever it stood for before."""
        if isinstance(target, str):
            location = f"{self.package}.{target}"
        else:
            location = f"{target.__module__}:{target.__qualname__}"
        self._entries[name] = Entry(name, location, description, self.options)

    def also_known_as(self, name: str, *aliases: str) -> None:
        """Other names that people know a variant by; a config keeps the registered one."""
        for alias in aliases:
            if plain(alias) in self._known_as:
                raise ValueError(f"{self.noun} {alias!r} is registered twice")
            self._known_as[plain(alias)] = name

    def remove(self, name: str) -> None:
        """Take back what was added under `name`."""
        del self._entries[name]
        self._known_as = {alias: known for alias, known in self._known_as.items() if known != name}

    def names(self) -> list[str]:
        return list(self._entries)

    def entries(self) -> list[Entry]:
        return list(self._entries.values())

    def canonical(self, name: Any) -> str | None:
        """The registered name of what people write in their own way (NoPE, KerpleLog); None if nobody knows it."""
        return self._known_as.get(plain(name)) if isinstance(name, str) else None

    def suggest(self, name: Any) -> str:
        """The end of a message about a name that nobody knows: the nearest variant, by any of its names, or all."""
        near = get_close_matches(plain(str(name)), self._known_as, n=1)
        return f"did you mean {self._known_as[near[0]]}?" if near else suggestion("", self._entries)

    def __getitem__(self, name: str) -> Entry:
        found = self.canonical(name)
        if found is None:
            raise UserError(f"unknown {self.noun} {name!r}; {self.suggest(name)}")
        return self._entries[found]

    def class_named(self, name: str) -> Any:
        """The registered class of this name, so that a package can offer its variants as attributes."""
        for entry in self._entries.values():
            if entry.class_name == name:
                return entry.load()
        raise AttributeError(f"module {self.package!r} has no attribute {name!r}")

    def attributes(self) -> list[str]:
        """What the package offers, for `dir` and the Tab key: its own names and the registered classes."""
        return sorted({*vars(sys.modules[self.package]), *(entry.class_name for entry in self._entries.values())})
