"""Mistakes a user can make, explained in one sentence."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """Something the user can fix. The command line prints it as one line and exits with status 2."""


class RunBusy(UserError):
    """Another process is training this run."""


class RunFailed(Exception):
    """A run cannot continue; the message says why and what to try. Exit status 1."""


def suggestion(name: str, choices: Iterable[str]) -> str:
    """The end of an error message: the nearest of `choices`, whatever its case, or all of them if none is near.

    >>> suggestion("Fyre", ["fire", "none"])
    'did you mean fire?'
    >>> suggestion("ABACUS-mini", ["abacus-mini", "smoke"])
    'did you mean abacus-mini?'
    >>> suggestion("x", ["fire", "none"])
    'choose one of fire, none'
    """
    known = list(choices)
    in_lower_case = {choice.lower(): choice for choice in known}
    near = get_close_matches(name.lower(), in_lower_case, n=1)
    return f"did you mean {in_lower_case[near[0]]}?" if near else f"choose one of {', '.join(known)}"
