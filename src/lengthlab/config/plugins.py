"""Variants from outside the package: files that a user names, and installed packages.

A plugin is a Python file that adds to a registry:

    from lengthlab.encodings import ENCODINGS
    ENCODINGS.add("mine", Mine, "bias: my idea")

It is named by `--plugin FILE`, by LENGTHLAB_PLUGINS (which sweeps hand on to their children) or by `plugins: [FILE]` in
a recipe; an installed package names its module as an entry point of the group `lengthlab`. A run keeps the name and the
SHA-256 of the plugins that it uses. They are part of its id, but never loaded because a run folder says so.
"""

import hashlib
import os
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
        exec(compile(source, str(path), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        for axis, name in _names() - before:
            REGISTRIES[axis].remove(name)
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        line = error.lineno if isinstance(error, SyntaxError) else frames[-1].lineno if frames else None
        where = f", line {line}" if line else ""
        raise UserError(f"--plugin {path}{where}: {type(error).__name__}: {error}") from None
    return _remember(plugin, before)


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
        _remember(Plugin(file=point.value, sha256=hashlib.sha256(source).hexdigest()), before)


def _remember(plugin: Plugin, before: set[tuple[str, str]]) -> Plugin:
    _loaded[plugin.sha256] = plugin
    _provided.update(dict.fromkeys(_names() - before, plugin))
    return plugin


def _names() -> set[tuple[str, str]]:
    return {(axis, name) for axis, registry in REGISTRIES.items() for name in registry.names()}
