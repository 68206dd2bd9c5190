"""`lengthlab verify`: whether published results follow from their tables."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lengthlab.cli.console import Screen, print_json
from lengthlab.cli.parameters import Json
from lengthlab.errors import UserError


def verify(
    folder: Annotated[Path, Parameter(help="Folder of result tables, such as results/mini.")],
    /,
    *,
    as_json: Json = False,
) -> None:
    """Compute published numbers and verdicts again from the tables.

    Nothing is trained and no weights are needed. Every difference is named,
    and a single one makes the exit status 1.
    """
    if not folder.is_dir():
        raise UserError(f"no folder {folder}; give one with result tables, such as results/mini")
    from lengthlab.report.verify import verify as check

    found = check(folder)
    console = Screen(stderr=as_json)
    if as_json:
        print_json(asdict(found))
    for difference in found.differences:
        console.put(difference, "red")
    if found.differences:
        sys.exit(1)
    page = f"{found.verdicts} verdicts and {found.rows} rows of numbers on its page" if found.rows else "no page"
    console.put(f"{folder}: {found.runs} runs, {found.scores} scores, {page}: all follow from the tables")
