"""The tables of the README and the docs, made from what they are about; `make tables` renews them.

So are the imports by which type checkers and editors know the classes of a registry, at the end of its package.
"""

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lengthlab.board.record import read_board
from lengthlab.board.tracks import TRACKS, Standing, standings
from lengthlab.cli.board import given
from lengthlab.cli.claims import SPREADS
from lengthlab.config.aids import NOTHING_OUTSIDE
from lengthlab.config.axes import AXES
from lengthlab.config.catalogue import catalogue, recipes
from lengthlab.errors import UserError
from lengthlab.paper.claim import Verdict
from lengthlab.paper.claims import load_claims
from lengthlab.paper.decide import power
from lengthlab.paper.experiment import experiment_names, load_experiment
from lengthlab.paper.scales import SCALE_NAMES, SCALES
from lengthlab.paper.tables import Results


def axis_table(axis: str) -> str:
    """One axis as a table of names and descriptions."""
    return _table([axis, ""], [[f"`{item['name']}`", item["description"]] for item in catalogue()[axis]])


def class_imports(axis: str) -> str:
    """Imports of an axis' own classes, which only type checkers carry out."""
    registry = AXES[axis]
    found = {(one.module, one.class_name) for one in registry.entries() if one.module.startswith(registry.package)}
    own = sorted(found, key=lambda one: (one[0], not one[1].isupper(), one[1]))  # as ruff wants them
    return "\n".join(f"    from {module} import {name} as {name}" for module, name in own)


def recipes_table() -> str:
    """Every recipe with what its model is given; that nothing outside the model helps is true of all of them."""
    rows = [
        [f"`{one['name']}`", one["description"], "; ".join(given for given in one["given"] if given != NOTHING_OUTSIDE)]
        for one in recipes()
    ]
    return _table(["recipes", "", "given to the model"], rows)


def experiments_table() -> str:
    """Every experiment with what varies in it."""
    rows = [[f"`{name}`", load_experiment(name).varies] for name in experiment_names()]
    return _table(["experiments", "what varies"], rows)


def ids_table() -> str:
    """Which position ids the encodings have at each scale."""
    return _table(["scale", "position ids"], [[f"`{name}`", scale.ids] for name, scale in SCALES.items()])


def power_table() -> str:
    """How many seeds decide which difference."""
    head = ["seeds of each setting", "compared", "correlation", *(f"spread {spread}" for spread in SPREADS)]
    return _table(head, [row.cells(SPREADS) for row in power()])


def claims_table(folder: Path) -> str:
    """Every claim for which there are runs, with the verdict of the result tables in `folder`."""
    results = Results(folder)
    verdicts = [claim.judge(results) for claim in load_claims().values()]
    rows = [
        [verdict.sentence, _finding(verdict), "<br>".join(part.line for part in verdict.parts)]
        for verdict in verdicts
        if verdict.finding != "not run"
    ]
    return _table(["claim of the paper", f"at {folder.name} scale", "numbers (95% interval over seeds)"], rows)


def _finding(verdict: Verdict) -> str:
    return f"**{verdict.finding}**{f'<br>({verdict.of_parts})' if verdict.of_parts else ''}"


def board_tables(folder: Path) -> str:
    """A table for each track of the board."""
    records, problems = read_board(folder)
    if problems:
        raise UserError(problems[0])
    heads = ["", "recipe", "record", "seeds", "core-minutes", "parameters", "given to it", "machine", "commit"]
    parts = []
    for track in TRACKS:
        rows = [_board_row(one) for one in standings(track, records)]
        shown = _table(heads, rows) if rows else "No record yet."
        parts.append(f"### {track.title}\n\n{track.rule[0].upper()}{track.rule[1:]}.\n\n{shown}")
    if few := [f"`{record.name}` ({len(record.seeds)})" for record in records if not record.ranked]:
        parts.append(f"Not ranked, for they have fewer than five seeds: {', '.join(few)}.")
    return "\n" + "\n\n".join(parts) + "\n"


def _board_row(standing: Standing) -> list[str]:
    record = standing.record
    first, last = record.seeds[0], record.seeds[-1]
    named = f"[{record.name}](../results/board/{record.name}.yaml)"
    cost = [record.minutes, f"{record.parameters:,}"]
    made = [", ".join(record.machines), f"`{(first.commit or 'unknown')[:7]}`"]
    return [str(standing.place), named, standing.value, f"{first.seed}-{last.seed}", *cost, given(record), *made]


def _table(head: list[str], rows: list[list[str]]) -> str:
    def line(cells: list[str]) -> str:
        return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"

    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)])


def renew(text: str, root: Path) -> str:
    """`text` with everything between `<!-- table: NAME -->` and `<!-- end -->` made anew; in Python, imports."""
    makers: dict[str, Callable[[], str]] = {
        "recipes": recipes_table,
        "experiments": experiments_table,
        "ids": ids_table,
        "power": power_table,
        **{f"claims_{scale}": partial(claims_table, root / "results" / scale) for scale in SCALE_NAMES},
        "board": lambda: board_tables(root / "results" / "board"),
    }

    def replace(match: re.Match[str]) -> str:
        name = match[2]
        table = makers[name]() if name in makers else axis_table(name)
        return f"{match[1]}\n{table}\n{match[3]}"

    text = re.sub(r"(<!-- table: (\w+) -->).*?(<!-- end -->)", replace, text, flags=re.DOTALL)
    block = r"(^if TYPE_CHECKING:  # table: (\w+)\n).*?(^# end$)"
    return re.sub(block, lambda match: f"{match[1]}{class_imports(match[2])}\n{match[3]}", text, flags=re.S | re.M)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(renew(path.read_text(), Path.cwd()))
