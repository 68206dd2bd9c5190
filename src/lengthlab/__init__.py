"""lengthlab: a laboratory for length generalization.

    import lengthlab as ll

    ll.ask("31415926+27182818")
    run = ll.train("zhou2024-mini", "training.steps=500", seed=1)
    run.evaluate("1-30", examples=200)
    run.ask("123+456")

The data flows one way, and the folders follow it:

    tasks -> formats -> positions -> batches -> model (encodings) -> training -> evaluation -> figures

What is asked for here is imported when it is asked for: torch stays away until something needs it.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lengthlab import encodings, formats, optimizers, positions, tasks
    from lengthlab.api import Rows, Run, ask, compare, load, runs, train
    from lengthlab.config.load import load_config
    from lengthlab.config.plugins import name_plugins as load_plugins
    from lengthlab.errors import UserError

__version__ = "0.1.0"
__all__ = [
    "Rows",
    "Run",
    "UserError",
    "ask",
    "compare",
    "encodings",
    "formats",
    "load",
    "load_config",
    "load_plugins",
    "optimizers",
    "positions",
    "runs",
    "tasks",
    "train",
]
_ELSEWHERE = {
    "UserError": "errors:UserError",
    "load_config": "config.load:load_config",
    "load_plugins": "config.plugins:name_plugins",
    **{name: f"api:{name}" for name in ("Rows", "Run", "ask", "compare", "load", "runs", "train")},
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'lengthlab' has no attribute {name!r}")
    module, _, attribute = _ELSEWHERE.get(name, name).partition(":")
    imported = import_module(f"lengthlab.{module}")
    return getattr(imported, attribute) if attribute else imported


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


class _CallableRuns(ModuleType):
    """`lengthlab.runs` is a package, and the function of the Python door: both are the natural name."""

    def __call__(self, condition: str = "") -> "list[Run]":
        """The runs that meet a condition such as "encoding = 'fire' and exact_match_20 > 0.9", as `lengthlab.Run`."""
        from lengthlab import api

        return api.runs(condition)


import_module("lengthlab.runs").__class__ = _CallableRuns
