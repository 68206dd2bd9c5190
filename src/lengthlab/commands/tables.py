"""The README's tables, made from what they are about: `python -m lengthlab.commands.tables README.md` renews them."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

from lengthlab.catalogue import catalogue
from lengthlab.claims.load import load_claims
from lengthlab.claims.verdict import SYMBOLS, Verdict
from lengthlab.experiments.load import experiment_names, load_experiment
from lengthlab.results import Results


def axis_table(axis: str) -> str:
    """One axis as a table of names and descriptions."""
    return _table([axis, ""], [[f"`{item['name']}`", item["description"]] for item in catalogue()[axis]])


def experiments_table() -> str:
    """Every experiment with what varies in it."""
    rows = [[f"`{name}`", load_experiment(name).varies] for name in experiment_names()]
    return _table(["experiments", "what varies"], rows)


def claims_table(folder: Path) -> str:
    """Every claim for which there are runs, with the verdict of the result tables in `folder`."""
    results = Results(folder)
    verdicts = [claim.judge(results) for claim in load_claims().values()]
    rows = [
        [verdict.sentence, f"**{verdict.finding}**", _numbers(verdict)]
        for verdict in verdicts
        if verdict.parts and any(part.value is not None for part in verdict.parts)
    ]
    return _table(["claim of the paper", "at mini scale", "numbers (95% interval over seeds)"], rows)


def _numbers(verdict: Verdict) -> str:
    """A line for each part, with a sign of what became of it if there are several."""
    signs = [f"{SYMBOLS[part.finding]} " if len(verdict.parts) > 1 else "" for part in verdict.parts]
    return "<br>".join(sign + part.numbers for sign, part in zip(signs, verdict.parts, strict=True))


def _table(head: list[str], rows: list[list[str]]) -> str:
    def line(cells: list[str]) -> str:
        return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"

    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)])


def renew(text: str, root: Path) -> str:
    """`text` with everything between `<!-- table: NAME -->` and `<!-- end -->` made anew."""
    makers: dict[str, Callable[[], str]] = {
        "experiments": experiments_table,
        "claims": lambda: claims_table(root / "results" / "mini"),
    }

    def replace(match: re.Match[str]) -> str:
        name = match[2]
        table = makers[name]() if name in makers else axis_table(name)
        return f"{match[1]}\n{table}\n{match[3]}"

    return re.sub(r"(<!-- table: (\w+) -->).*?(<!-- end -->)", replace, text, flags=re.DOTALL)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(renew(path.read_text(), path.parent))
