"""`lengthlab check`: hold the variants of a plugin to the contracts that everything registered keeps."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lengthlab.cli.console import Screen, print_json
from lengthlab.cli.parameters import Json
from lengthlab.errors import RunFailed, UserError


def check(
    *files: Annotated[Path, Parameter(help="Python files that add encodings, tasks and so on.")], as_json: Json = False
) -> None:
    """Check that a plugin's encodings, tasks and so on meet the contracts of built-in ones.

    lengthlab check my_ideas.py
    """
    if not files:
        raise UserError("check: name at least one Python file, such as my_ideas.py")
    from lengthlab.config.plugins import name_plugins, unregistered_in, variants_of

    name_plugins(files)
    variants = [variant for file in files for variant in variants_of(file)]
    for file in files if not variants else ():
        if line := unregistered_in(file):
            raise UserError(f"check: {file} registers nothing; its last line should be {line}")
    if not variants:
        named = ", ".join(map(str, files))
        raise UserError(f"check: {named} registers nothing, such as ENCODINGS.add(NAME, CLASS, DESCRIPTION) does")
    from lengthlab.config.contracts import check_variant

    findings = [finding for axis, name in variants for finding in check_variant(axis, name)]
    broken = [finding for finding in findings if finding.failure]
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        console = Screen()
        for finding in findings:
            chosen = "".join(f" {key}={value}" for key, value in finding.options.items())
            mark = "broken" if finding.failure else "kept"
            console.put(f"{mark:<7} {finding.variant}{chosen}: {finding.contract.replace('_', ' ')}")
            if finding.failure:
                console.put(f"        {finding.failure}")
    if broken:
        raise RunFailed(f"{len(broken)} of {len(findings)} contracts are broken")
