"""Run folders: written atomically, read with care, queried with SQL.

    run.py -> runs/*/ -> reader.py: records, and what was skipped -> database.py: DuckDB -> commands
                                                                  -> groups.py: over seeds, two groups compared

`columns.py` lists what is known of a run; `files.py` writes files whole and reads them with care.
"""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """`lengthlab.runs` is this package, and the function of the Python door: both are the natural name."""

    def __call__(self, condition: str = "") -> Any:
        from importlib import import_module

        return import_module("lengthlab.api").runs(condition)


sys.modules[__name__].__class__ = _Callable
