"""The text of model.py: `standalone.py`, with the sources of what a model chooses by name put in.

An encoding's own file says what it does, so nothing is written twice and a new encoding, a plugin's too, is exported
as it stands. From its file come the class, what the class refers to, and nothing else: options and annotations are
for configs. What refers to more than torch and Python's own library is refused.
"""

import ast
import builtins
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from lengthlab.config.axes import ATTENTIONS
from lengthlab.config.schema import Config
from lengthlab.encodings import ENCODINGS
from lengthlab.encodings import encoding as base
from lengthlab.errors import UserError
from lengthlab.export import standalone

TEMPLATE = Path(__file__).with_name("standalone.py")
PLACE = "ENCODINGS: dict[str, type[Encoding]] = {}\nweigh = torch.softmax\n"
GIVEN = ("Encoding", "Shape", "distances")  # of encodings/encoding.py: the template has them
ANYWHERE = ("__future__", "torch", *sys.stdlib_module_names)


def model_source(config: Config) -> str:
    """The text of model.py for the models of a config."""
    kinds = list(dict.fromkeys(pair.encoding.kind for pair in config.pairs))
    chosen = {kind: ENCODINGS[kind].load() for kind in kinds}
    weigh = ATTENTIONS[config.model.attention].load()
    text = TEMPLATE.read_text(encoding="utf-8")
    gathered = Gathered()
    for kind, encoding in chosen.items():
        gathered.add(encoding, f"encoding {kind}", with_equations=True)
    gathered.add(weigh, f"attention {config.model.attention}")
    named = ", ".join(f'"{kind}": {encoding.__name__}' for kind, encoding in chosen.items())
    chosen_by_name = f"ENCODINGS: dict[str, type[Encoding]] = {{{named}}}\nweigh = {weigh.__name__}\n"
    put_in = "\n\n\n".join(["", *gathered.definitions.values(), chosen_by_name])
    before, place, after = text.partition(PLACE)
    assert place, f"{TEMPLATE.name} must have a place for the encodings"
    before = before.replace("\nimport torch\n", "\n".join(["", *gathered.added, "import torch", ""]), 1)
    return before.rstrip("\n") + put_in + after


class Gathered:
    """Definitions and imports that some classes and functions need, in an order in which they can stand."""

    def __init__(self) -> None:
        self.added: list[str] = []  # imports that the template does not have
        self.definitions: dict[str, str] = {}  # the source of each name
        self._meanings = dict(vars(standalone))  # what each name stands for in model.py

    def add(self, thing: Any, what: str, with_equations: bool = False) -> None:
        """A class or function with everything that it refers to; `what` names it in a refusal.

        Equations stand at the top of an encoding's file.
        """
        module = sys.modules[thing.__module__]
        self._gather(thing.__name__, module, what)
        if with_equations and module.__doc__:
            comment = "\n".join(f"# {line}".rstrip() for line in module.__doc__.strip().splitlines())
            if not any(text.startswith(comment) for text in self.definitions.values()):
                self.definitions[thing.__name__] = f"{comment}\n\n\n{self.definitions[thing.__name__]}"

    def _gather(self, name: str, module: ModuleType, what: str) -> None:
        text = inspect.getsource(module)
        statement = next((node for node in ast.parse(text).body if name in _bound_by(node)), None)
        if isinstance(statement, ast.Import | ast.ImportFrom):
            self._import(name, statement, vars(module)[name], what)
        elif statement is None:
            raise _refusal(what, f"{name} is not written out in {module.__name__}")
        elif self._is_new(name, vars(module)[name], what):
            lines = text.splitlines()
            options = _without_options(statement, lines)
            for needed in _names(statement):
                if needed in vars(module):
                    self._gather(needed, module, what)
            first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", []))])
            kept = [line for at, line in enumerate(lines[first - 1 : statement.end_lineno], first) if at not in options]
            self.definitions[name] = "\n".join(kept)

    def _import(self, name: str, statement: ast.Import | ast.ImportFrom, thing: Any, what: str) -> None:
        """Repeat an import of torch or the standard library; of lengthlab's own names, gather what they stand for."""
        alias = next(alias for alias in statement.names if name in (alias.asname, alias.name.partition(".")[0]))
        source = (statement.module or "") if isinstance(statement, ast.ImportFrom) else alias.name
        top = source.partition(".")[0]
        if source == base.__name__ and alias.name in GIVEN and not alias.asname:
            return
        if isinstance(statement, ast.ImportFrom) and top == "lengthlab" and not alias.asname:
            self._gather(name, sys.modules[getattr(thing, "__module__", source)], what)  # where it is written
        elif top in ANYWHERE:
            if self._is_new(name, thing, what):
                only = ast.Import([alias]) if isinstance(statement, ast.Import) else ast.ImportFrom(source, [alias], 0)
                self.added.append(ast.unparse(only))
        else:
            raise _refusal(what, f"it needs {source or 'a file beside its own'}")

    def _is_new(self, name: str, thing: Any, what: str) -> bool:
        """Whether a name is met for the first time; in one file it cannot stand for two things."""
        if name not in self._meanings:
            self._meanings[name] = thing
            return True
        if self._meanings[name] is not thing:
            raise _refusal(what, f"the name {name} stands for something else there")
        return False


def _refusal(what: str, reason: str) -> UserError:
    return UserError(f"export: {what} cannot be written into model.py, which has torch alone: {reason}")


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement at the top of a file gives something to."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.ClassDef | ast.FunctionDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))


def _without_options(statement: ast.stmt, lines: list[str]) -> set[int]:
    """Take `options_class` out of a class, and say on which lines it stood, an empty one after it included."""
    gone: set[int] = set()
    if isinstance(statement, ast.ClassDef):
        for node in [node for node in statement.body if "options_class" in _bound_by(node)]:
            statement.body.remove(node)
            end = node.end_lineno or node.lineno
            gone.update(range(node.lineno, end + 1 + (end < len(lines) and not lines[end].strip())))
    return gone


def _names(statement: ast.stmt) -> list[str]:
    """The names that running a statement refers to, annotations left out."""
    for node in ast.walk(statement):
        if isinstance(node, ast.arg | ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
    names = (node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return [name for name in dict.fromkeys(names) if not hasattr(builtins, name)]
