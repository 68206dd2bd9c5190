"""`lengthlab claims`: the paper's claims and what the results say to them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lengthlab.claims.load import claim_named, load_claims
from lengthlab.claims.verdict import Verdict
from lengthlab.commands.parameters import Json
from lengthlab.errors import UserError
from lengthlab.experiments.scales import ScaleName
from lengthlab.results import Results

STYLES = {"holds": "green", "does not hold": "red", "not enough evidence": "yellow"}


def claims(
    *names: Annotated[str, Parameter(help="Ids of claims; all if none is given.")],
    scale: Annotated[ScaleName, Parameter(help="Scale of the experiments.")] = "mini",
    results: Annotated[Path | None, Parameter(help="Folder of result tables; results/SCALE if not given.")] = None,
    rules: Annotated[
        bool, Parameter(negative="", show_default=False, help="Print how each claim is decided, too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """The paper's claims, each with a verdict computed from the result tables: numbers, seeds, 95% intervals."""
    folder = results or Path("results") / scale
    if not (folder / "members.csv").exists():
        raise UserError(f"{folder}: no result tables; lengthlab reproduce all --scale {scale} makes them")
    chosen = [claim_named(name) for name in names] or list(load_claims().values())
    tables = Results(folder)
    verdicts = [claim.judge(tables) for claim in chosen]
    if as_json:
        print(json.dumps([verdict.as_dict() for verdict in verdicts], indent=2))
    else:
        print_verdicts(Console(), verdicts, rules)


def print_verdicts(console: Console, verdicts: Sequence[Verdict], rules: bool = False) -> None:
    """Claims as a table: sentence, verdict, numbers, seeds."""
    table = Table(box=None, pad_edge=False, header_style="bold", show_lines=True)
    table.add_column("claim", ratio=2)
    table.add_column("verdict", min_width=13)
    table.add_column("numbers (95% interval over seeds)", ratio=3)
    table.add_column("seeds", justify="right")
    for verdict in verdicts:
        sentence = Text(verdict.sentence) + Text(f" [{verdict.id}]", style="dim")
        if rules:
            sentence += Text(f"\n{verdict.rule}.", style="dim")
        numbers = Text("\n").join(
            Text(part.numbers, style="" if part.finding == "holds" else STYLES[part.finding]) for part in verdict.parts
        )
        table.add_row(sentence, Text(verdict.finding, style=STYLES[verdict.finding]), numbers, verdict.seeds)
        table.add_row("")
    console.print(table)
