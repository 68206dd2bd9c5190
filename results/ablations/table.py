"""Print the table of ablations from the tables that `lengthlab reproduce results/ablations/ablations.yaml` has written.

    python results/ablations/table.py [FOLDER]     # results/ablations if not given

Each setting is compared with the whole recipe, seed by seed, at 50 digits. The rule (LOG.md): a part helps
if the 95% interval (paired t) of the difference lies above 0, it hurts if it lies below 0; with fewer than five pairs
nothing is said.
"""

import sys
from pathlib import Path

from lengthlab.paper.tables import Results
from lengthlab.statistics import median_text, t_interval
from lengthlab.statistics.intervals import within

WHOLE = "whole recipe"
PAIRS = 5  # of seeds, by the rule
SHOWN = (20, 30, 40, 50)
Scores = dict[int, dict[int, float]]  # by seed and digits


def main(folder: Path) -> None:
    results = Results(folder)
    found: dict[str, Scores] = {}
    for member in results.members("ablations"):
        rows = results.exact_match(member.run)
        if results.trial(member.run)["state"] == "finished" and rows:
            scores = {row["digits"]: row["exact_match"] for row in rows}
            found.setdefault(member.setting, {})[member.seed] = scores
    if WHOLE not in found:
        print(f"No finished runs in {folder}: lengthlab reproduce results/ablations/ablations.yaml makes them.")
        return
    heads = ["", "seeds", *(f"{digits} digits" for digits in SHOWN), f"difference at {SHOWN[-1]}", "so that part"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for setting, scores in found.items():
        cells = [median_text([one[digits] for one in scores.values()]) for digits in SHOWN]
        print(f"| {setting} | {len(scores)} | {' | '.join([*cells, *_verdict(found[WHOLE], scores, setting)])} |")


def _verdict(whole: Scores, without: Scores, setting: str) -> tuple[str, str]:
    pairs = [whole[seed][SHOWN[-1]] - scores[SHOWN[-1]] for seed, scores in without.items() if seed in whole]
    if setting == WHOLE or len(pairs) < 2:
        return "", ""
    low, high = (within(end, -1.0, 1.0) for end in t_interval(pairs))
    verdict = "helps" if low > 0 else "hurts" if high < 0 else "is undecided"
    if len(pairs) < PAIRS:
        verdict = f"has {len(pairs)} of {PAIRS} pairs"
    points = [f"{100 * value:+.0f}" for value in (sum(pairs) / len(pairs), low, high)]
    return f"{points[0]} points ({points[1]} to {points[2]})", verdict


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
