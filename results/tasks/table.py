"""Print the table task x ideas from the tables that `lengthlab reproduce results/tasks/tasks.yaml` has written.

    python results/tasks/table.py [FOLDER]     # results/tasks if not given

A cell is the longest tested length with 99% or more on every seed, all shorter ones included, in times the training
length; then the same for each seed.
"""

import sys
from pathlib import Path

from lengthlab.paper.tables import Results
from lengthlab.statistics import generalization

LEVEL = 0.99


def main(folder: Path) -> None:
    results = Results(folder)
    cells: dict[str, dict[str, list[str]]] = {}
    for member in results.members("tasks"):
        trial = results.trial(member.run)
        scores = {row["digits"]: row["exact_match"] for row in results.exact_match(member.run)}
        if trial["state"] == "finished" and scores:
            task, _, ideas = member.setting.partition(", ")
            reached = generalization(scores, trial["trained_digits"], LEVEL)
            cells.setdefault(task, {}).setdefault(ideas, []).append(reached.text)
    if not cells:
        print(f"No finished runs in {folder}: lengthlab reproduce results/tasks/tasks.yaml --out {folder} makes them.")
        return
    columns = list(dict.fromkeys(ideas for by_ideas in cells.values() for ideas in by_ideas))
    print(f"| task | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for task, by_ideas in cells.items():
        print(f"| {task} | {' | '.join(_cell(by_ideas.get(ideas, [])) for ideas in columns)} |")


def _cell(reached: list[str]) -> str:
    """The shortest reach of all seeds, and each."""
    if not reached:
        return "not run"
    factors = sorted(reached, key=lambda text: float(text.partition("x")[0]))
    seeds = f"{len(reached)} seed{'' if len(reached) == 1 else 's'}"
    return f"**{factors[0]}** ({seeds}: {', '.join(text.removesuffix(' or more') for text in factors)})"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
