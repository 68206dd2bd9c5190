"""`lengthlab claims`: the paper's claims and what the results say about them."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from lengthlab.cli.console import Screen, print_json, table
from lengthlab.cli.parameters import Json, flag
from lengthlab.errors import UserError
from lengthlab.paper.scales import ScaleName

if TYPE_CHECKING:
    from lengthlab.paper.claim import Verdict

STYLES = {"holds": "green", "does not hold": "red", "not enough evidence": "yellow", "not run": "dim"}
SPREADS = ("0.05", "0.1", "0.2")  # standard deviations of exact match over seeds
WIDE = 100  # columns, from which on sentence and numbers stand side by side


def claims(
    *names: Annotated[str, Parameter(help="Ids of claims; all if none is given.")],
    scale: Annotated[ScaleName, Parameter(help="Scale of the experiments.")] = "mini",
    results: Annotated[Path | None, Parameter(help="Folder of result tables; results/SCALE if not given.")] = None,
    rules: Annotated[bool, flag("Also print how each claim is decided.")] = False,
    power: Annotated[bool, flag("Print how many seeds decide which difference, and nothing else.")] = False,
    as_json: Json = False,
) -> None:
    """Judge the paper's claims against the result tables.

    Each claim gets a verdict with its numbers, seeds and 95% intervals.
    """
    if power:
        _print_power(as_json)
        return
    folder = results or Path("results") / scale
    if not (folder / "members.csv").exists():
        raise UserError(f"{folder}: no result tables; lengthlab reproduce all --scale {scale} makes them")
    from lengthlab.paper.claims import claim_named, load_claims
    from lengthlab.paper.tables import Results

    chosen = [claim_named(name) for name in names] or list(load_claims().values())
    tables = Results(folder)
    verdicts = [claim.judge(tables) for claim in chosen]
    if as_json:
        print_json([verdict.as_dict() for verdict in verdicts])
    else:
        print_verdicts(Screen(), verdicts, rules)


def _print_power(as_json: bool) -> None:
    """What the rule for differences of two settings finds in four cases of five."""
    from lengthlab.paper.decide import power

    rows = power()
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    made = table("", ("seeds of each setting", "compared", "correlation"), SPREADS)
    for row in rows:
        made.add_row(*row.cells(SPREADS))
    console = Screen()
    console.print(made)
    console.say("The smallest difference of exact match found in four cases of five, by its spread over seeds.")


def print_verdicts(console: Screen, verdicts: "Sequence[Verdict]", rules: bool = False) -> None:
    """For each claim its sentence, verdict, numbers and seeds: in columns, or under one another if they are narrow."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    if console.width >= WIDE:
        made.add_column("claim", ratio=2)
        made.add_column("verdict", min_width=13, ratio=1)
        made.add_column("numbers (95% interval over seeds)", ratio=3)
        made.add_column("seeds", justify="right")
    for verdict in verdicts:
        sentence = Text(verdict.sentence) + Text(f" [{verdict.id}]", style="dim")
        if rules:
            sentence += Text(f"\n{verdict.rule}.", style="dim")
        finding = Text(verdict.finding, style=STYLES[verdict.finding])
        if verdict.of_parts:
            finding += Text(f"\n{verdict.of_parts}", style="dim")
        numbers = Text("\n").join(Text(part.line, style=STYLES[part.finding]) for part in verdict.parts)
        if verdict.finding == "not run":
            numbers = Text(f"lengthlab reproduce {verdict.experiment}", style="dim")
        if console.width >= WIDE:
            made.add_row(sentence, finding, numbers, str(verdict.seeds))
            made.add_row("")
        else:
            console.print(sentence)
            console.print(finding, Text(f"({verdict.seeds} seeds)", style="dim"))
            console.print(numbers, end="\n\n")
    if console.width >= WIDE:
        console.print(made)
