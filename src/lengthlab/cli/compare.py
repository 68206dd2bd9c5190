"""`lengthlab compare`: two groups of runs against each other, over their seeds."""

from typing import Annotated

from cyclopts import Parameter

from lengthlab.cli.console import Screen, print_json
from lengthlab.cli.parameters import Json
from lengthlab.cli.runs import read_all
from lengthlab.errors import UserError


def compare(
    a: Annotated[str, Parameter(help="Condition for the first group, as for lengthlab runs.")],
    b: Annotated[str, Parameter(help="Condition for the second group.")],
    /,
    *,
    digits: Annotated[int, Parameter(help="Length of the problems at which they are compared.")],
    names: Annotated[str | None, Parameter(help="What to call them, such as FIRE,RoPE.")] = None,
    paired: Annotated[
        bool | None,
        Parameter(help="Pair runs of the same seed. By default: if both groups have the same 6 or more seeds."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare two groups of runs over their seeds.

    Prints a summary of each group and, in one sentence, their difference with
    its 95% interval, its p value and the effect size.

    lengthlab compare "encoding = 'fire'" "encoding = 'rope'" --digits 15
    """
    from lengthlab.runs.groups import compare_groups

    called = [name.strip() for name in names.split(",")] if names else []
    if names and (len(called) != 2 or not all(called)):
        raise UserError("--names: two names with a comma between them, such as FIRE,RoPE")
    found = compare_groups(read_all(), a, b, digits, (called[0], called[1]) if called else None, paired)
    groups = list(zip(found.names, found.conditions, found.runs, found.summaries, strict=True))
    if as_json:
        described = [
            {"name": name, "condition": condition, "runs": runs, **summary.as_dict()}
            for name, condition, runs, summary in groups
        ]
        sentence = {"digits": digits, "sentence": found.result.sentence, "notes": found.notes}
        print_json({"groups": described, "comparison": found.result.as_dict(), **sentence})
        return
    console = Screen()
    for name, condition, _, summary in groups:
        console.say(f"{name}{f' ({condition})' if name != condition else ''}: {summary.sentence}")
    for line in ("", found.result.sentence, *found.notes):
        console.say(line)
