"""Variants from outside the package: files that a user names, and installed packages.

A plugin is a Python file that adds to a registry:

    from lengthlab.encodings import ENCODINGS
    ENCODINGS.add("mine", Mine, "bias: my idea")

It is named by `--plugin FILE`, by LENGTHLAB_PLUGINS (which sweeps hand on to their children) or by `plugins: [FILE]` in
a recipe; an installed package names its module as an entry point of the group `lengthlab`. A run keeps the name and the
SHA-256 of the plugins that it uses. They are part of its id, but never loaded because a run folder says so.
"""

import hashlib
import inspect
import os
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from lengthlab.config.axes import AXES, CHOICES
from lengthlab.config.registry import Registry
from lengthlab.config.sections import Section
from lengthlab.errors import UserError

ENVIRONMENT = "LENGTHLAB_PLUGINS"  # files, with the system's separator of paths between them
GROUP = "lengthlab"
REGISTRIES: dict[str, Registry] = AXES | CHOICES


class Plugin(Section):
    """What a run remembers of a plugin."""

    file: str  # its name without the folder, which other machines do not have
    sha256: str


_loaded: dict[str, Plugin] = {}  # by hash
_modules: dict[str, ModuleType] = {}  # by hash
_provided: dict[tuple[str, str], Plugin] = {}  # by axis and name


def load_plugins(paths: Sequence[str | Path] = ()) -> None:
    """Load these files, those of the environment and installed packages, each once."""
    _load_installed()
    named = [Path(name) for name in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if name]
    for path in [*named, *map(Path, paths)]:
        _load_file(path)


def name_plugins(paths: Sequence[str | Path]) -> None:
    """Load files and name them to the processes that this one starts."""
    load_plugins(paths)
    named = [name for name in os.environ.get(ENVIRONMENT, "").split(os.pathsep) if name]
    os.environ[ENVIRONMENT] = os.pathsep.join(dict.fromkeys([*named, *(str(Path(path).resolve()) for path in paths)]))


def variants_of(path: str | Path) -> list[tuple[str, str]]:
    """What a plugin has added, as (axis, name); it is loaded if it was not."""
    plugin = _load_file(Path(path))
    return [key for key, provider in _provided.items() if provider == plugin]


def unregistered_in(path: str | Path) -> str:
    """The line that a plugin lacks which defines a variant and adds it to no registry; empty if there is none."""
    module = _modules[_load_file(Path(path)).sha256]
    own = [thing for thing in vars(module).values() if isinstance(thing, type) and thing.__module__ == module.__name__]
    for axis, registry in AXES.items():
        known = [entry.load() for entry in registry.entries()]
        base = next(parent for parent in known[0].__mro__ if all(issubclass(one, parent) for one in known))
        for thing in own:
            if base is not object and issubclass(thing, base):
                name = axis.upper()
                first = "" if name in vars(module) else f"from {registry.package} import {name}; "
                return f'{first}{name}.add("{thing.__name__.lower()}", {thing.__name__}, "what it does")'
    return ""


def place_of(error: BaseException) -> str:
    """Where in a plugin an exception comes from, such as "my_ideas.py, line 12"; empty if from elsewhere."""
    files = {module.__file__ for module in _modules.values()}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in files:
            return f"{_shown(frame.filename)}, line {frame.lineno}"
    # A function that is called with other arguments than it takes has no frame, but the message begins with its name.
    called = re.match(r"([\w.]+)\(\) (?:takes|missing|got)", str(error)) if isinstance(error, TypeError) else None
    for module in reversed(_modules.values()) if called else ():  # the newest may have another of the same name
        function = _function(module, called[1] if called else "")
        if function:
            return f"{_shown(module.__file__)}, line {function.__code__.co_firstlineno}"
    return ""


def _function(module: ModuleType, name: str) -> Any:
    """A module's own function by its qualified name, such as Recency.bias; None if it has none."""
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    found = inspect.unwrap(found) if callable(found) else None
    return found if inspect.isfunction(found) and found.__module__ == module.__name__ else None


def mistake_in(error: BaseException) -> str:
    """An exception that a plugin's code has raised, as a sentence; empty if it comes from elsewhere."""
    place = place_of(error)
    return f"--plugin {place}: {type(error).__name__}: {error}" if place else ""


def _shown(file: str | None) -> str:
    """A file as people name it: from the current folder, if it is in it."""
    path = Path(file or "")
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def plugins_used(names: Iterator[tuple[str, str]]) -> tuple[Plugin, ...]:
    """The plugins among the providers of some (axis, name)."""
    found = {plugin.sha256: plugin for key in names if (plugin := _provided.get(key))}
    return tuple(found[sha256] for sha256 in sorted(found))


def require_loaded(records: Any) -> None:
    """Refuse what a run says of its plugins unless the very same are loaded already."""
    for record in records if isinstance(records, list | tuple) else [records]:
        if isinstance(record, Plugin):
            record = record.model_dump()
        if not isinstance(record, dict) or not all(isinstance(record.get(key), str) for key in ("file", "sha256")):
            raise UserError("plugins: should be a list of Python files, such as [my_ideas.py]")
        file, then = record["file"], record["sha256"]
        if then in _loaded:
            continue
        now = [plugin.sha256 for plugin in _loaded.values() if plugin.file == file]
        if now:
            reason = f"sha256 {then[:10]} then, {now[0][:10]} now"
            raise UserError(f"plugins: {file} has changed since this run began ({reason}); name the file as it was")
        reason = f"this run uses {file} (sha256 {then[:10]}), which is code"
        raise UserError(f"plugins: {reason}: name it with --plugin {file}")


def _load_file(path: Path) -> Plugin:
    if path.exists() and not path.is_file():  # a pipe would be waited for, a device never ends
        raise UserError(f"--plugin {path}: not a file; name a Python file, such as my_ideas.py")
    try:
        source = path.read_bytes()
    except OSError as error:
        raise UserError(f"--plugin {path}: {error.strerror}") from None
    plugin = Plugin(file=path.name, sha256=hashlib.sha256(source).hexdigest())
    if plugin.sha256 in _loaded:
        return _loaded[plugin.sha256]
    module = ModuleType(f"lengthlab_plugin_{path.stem}_{plugin.sha256[:8]}")
    module.__file__ = str(path.resolve())
    sys.modules[module.__name__] = module  # where its classes are found again
    before = _names()
    try:
        exec(compile(source, module.__file__, "exec"), module.__dict__)
        for axis, name in _names() - before:
            _find_target(axis, name, module)
    except (Exception, SystemExit) as error:
        for axis, name in _names() - before:
            REGISTRIES[axis].remove(name)
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == module.__file__]
        line = error.lineno if isinstance(error, SyntaxError) else frames[-1].lineno if frames else None
        where = f"--plugin {path}{f', line {line}' if line else ''}"
        raise UserError(
            f"{where}: {'' if isinstance(error, UserError) else f'{type(error).__name__}: '}{error}"
        ) from None
    _modules[plugin.sha256] = module
    return _remember(plugin, before)


def _find_target(axis: str, name: str, module: ModuleType) -> None:
    """Make sure that what a plugin adds is there; "recency:Recency", as within lengthlab, is its own Recency."""
    registry = REGISTRIES[axis]
    entry = registry[name]
    try:
        entry.load()
    except (ImportError, AttributeError):
        target = getattr(module, entry.class_name, None)
        if target is None:
            cure = f'{axis.upper()}.add("{name}", ..., "{entry.description}") wants a class or function of this file'
            raise UserError(f"{registry.noun} {name!r}: there is no {entry.location}; {cure}") from None
        registry.point(name, target, entry.description)


@cache
def _load_installed() -> None:
    """Import what installed packages name; a module that fails is left out and reported."""
    for point in entry_points(group=GROUP):
        before = _names()
        try:
            module = point.load()
        except Exception as error:
            print(f"lengthlab: plugin {point.name} ({point.value}) failed: {error}", file=sys.stderr)
            continue
        source = Path(module.__file__).read_bytes() if getattr(module, "__file__", None) else point.value.encode()
        plugin = Plugin(file=point.value, sha256=hashlib.sha256(source).hexdigest())
        _modules[plugin.sha256] = module
        _remember(plugin, before)


def _remember(plugin: Plugin, before: set[tuple[str, str]]) -> Plugin:
    _loaded[plugin.sha256] = plugin
    _provided.update(dict.fromkeys(_names() - before, plugin))
    return plugin


def _names() -> set[tuple[str, str]]:
    return {(axis, name) for axis, registry in REGISTRIES.items() for name in registry.names()}
