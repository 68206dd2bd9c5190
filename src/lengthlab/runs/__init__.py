"""Run folders: written atomically, read with care, queried with SQL.

From Python, `lengthlab.runs("encoding = 'fire' and exact_match_20 > 0.9")` lists the runs that meet a condition, each a
`lengthlab.Run`; without one, all runs. What follows is about the files of this package.

    run.py -> runs/*/ -> reader.py: records, and what was skipped -> database.py: DuckDB -> commands
                                                                  -> groups.py: over seeds, two groups compared

`columns.py` lists what is known of a run; `files.py` writes files whole and reads them with care.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lengthlab.runs.run import Run


class _Callable(ModuleType):
    """`lengthlab.runs` is this package, and the function of the Python door: both are the natural name."""

    def __call__(self, condition: str = "") -> "list[Run]":
        """The runs that meet a condition such as "encoding = 'fire' and exact_match_20 > 0.9", as `lengthlab.Run`."""
        from importlib import import_module

        return import_module("lengthlab.api").runs(condition)


sys.modules[__name__].__class__ = _Callable
