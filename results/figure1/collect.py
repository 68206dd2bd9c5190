"""Figure 1 on a laptop: every seed of every system, from finished runs, with the paper's numbers beside them.

    python results/figure1/collect.py 11 12 13    # seeds; reads the runs in $LENGTHLAB_RUNS or runs/

Writes `exact_match.csv`, prints a table in Markdown (and one of all systems with a tenth of the budget, from
`results/laptop`), draws `figure1.png` (every seed) and, of several systems, `best.png` (best of seeds, as in the
paper). Runs that are not finished are named and left for the next time; seeds that have no finished run here keep the
rows that the table has of them.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from lengthlab.analysis.names import TESTS
from lengthlab.config.aids import aid_sentences
from lengthlab.config.load import load_config
from lengthlab.evaluation.every_test import every_test
from lengthlab.figures.data import Seed, Setting, scores_at
from lengthlab.figures.exact_match import best_of_seeds, exact_match_over_seeds
from lengthlab.figures.style import only
from lengthlab.paper.tables import Results
from lengthlab.report.draw import settings_of
from lengthlab.runs.columns import Row
from lengthlab.runs.csv_rows import read_csv, write_csv
from lengthlab.runs.run import Run
from lengthlab.statistics import generalization, median_text, percent

PAPER = "Zhou et al. 2024"
SYSTEMS = {  # recipe and the length extension that the paper reports
    "Lee et al. 2023": ("lee2023-laptop", "1.0x"),
    "Kazemnejad et al. 2023": ("kazemnejad2023-laptop", "1.125x"),
    "Shen et al. 2023": ("shen2023-laptop", "1.1x"),
    "Zhou et al. 2023": ("zhou2023-laptop", "1.5x"),
    PAPER: ("zhou2024-laptop", "2.5x, best of 10"),
    "Abacus": ("abacus-laptop", ""),
    "Position coupling": ("coupling-laptop", ""),
}
SMALL = Path(__file__).parents[1] / "laptop"  # where all systems have run with a tenth of the budget
COLUMNS = ("system", "recipe", "seed", "run", "test", "factor", "digits", "examples", "exact_match", "low", "high")
TEXT = {"system", "recipe", "run", "test"}  # all other columns are numbers
SHOWN = (40, 50, 60, 80, 100)
LEVEL = 0.98  # the paper's


def main(folder: Path, seeds: Sequence[int]) -> None:
    rows = read_csv(folder / "exact_match.csv", COLUMNS, TEXT)  # of runs that were made elsewhere, they stay
    for system, (recipe, _) in SYSTEMS.items():
        for seed in seeds:
            run = Run.of(load_config(recipe, [f"seed={seed}"]))
            if run.status.get("state") != "finished":
                print(f"{recipe}, seed {seed}: no finished run {run.id} here", file=sys.stderr)
                continue
            named = {"system": system, "recipe": recipe, "seed": seed, "run": run.id}
            tested = every_test(run, lambda note: print(note, file=sys.stderr))
            rows = [row for row in rows if row["run"] != run.id] + [named | row for row in tested]
    rows.sort(key=lambda row: (list(SYSTEMS).index(row["system"]), row["seed"]))
    write_csv(folder / "exact_match.csv", COLUMNS, rows)
    settings = [setting_of(system, recipe, rows) for system, (recipe, _) in SYSTEMS.items()]
    print(table(settings))
    print(other_tests(rows))
    print(f"\nWith a tenth of the budget (`systems` in results/{SMALL.name}):\n")
    print(table(settings_of("systems", Results(SMALL))))
    begun = [setting for setting in settings if setting.seeds]
    with only("png", "svg"):
        files = exact_match_over_seeds(begun, folder / "figure1", finding(begun))
        if len(begun) > 1:  # of one system the best seed says nothing
            files += best_of_seeds(begun, folder / "best", "Figure 1 on a laptop: the best seed")
    print(*files, sep="\n", file=sys.stderr)


def finding(settings: Sequence[Setting]) -> str:
    """What the figure shows, in its title."""
    mine = [scores_at(setting, SHOWN[-1]) for setting in settings if setting.label == PAPER]
    if not mine or not mine[0]:
        return "Figure 1 on a laptop: every seed"
    good = sum(score > LEVEL for score in mine[0])
    return f"{good} of {len(mine[0])} seeds of the paper's recipe have {LEVEL:.0%} at {SHOWN[-1]} digits"


def setting_of(system: str, recipe: str, rows: Sequence[Row]) -> Setting:
    """The seeds of a system on uniform sums, at the recipe's own factor."""
    config = load_config(recipe)
    factor = config.model.logit_factor_at_test
    mine = [row for row in rows if (row["system"], row["test"], row["factor"]) == (system, "uniform", factor)]
    seeds = [
        Seed(seed, [row for row in mine if row["seed"] == seed], facts={"run": run})
        for seed, run in dict.fromkeys((row["seed"], row["run"]) for row in mine)
    ]
    return Setting(system, config.training.digits, seeds, aids=aid_sentences(config))


def other_tests(rows: Sequence[Row]) -> str:
    """What was answered right of sums that are not drawn uniformly, over all seeds."""
    lines = []
    for test, words in TESTS.items():
        for digits in sorted({row["digits"] for row in rows if row["test"] == test and test != "uniform"}):
            mine = [row for row in rows if (row["test"], row["digits"]) == (test, digits)]
            lowest = min(mine, key=lambda row: row["exact_match"])
            seeds = f"{len(mine)} seeds of {mine[0]['system']}"
            worst = f"{percent(lowest['exact_match'])} (seed {lowest['seed']})"
            lines.append(f"- {words}, {digits} digits: {seeds}, {mine[0]['examples']} sums each, the lowest {worst}")
    return "\n".join(["", *lines])


def table(settings: Sequence[Setting]) -> str:
    """Median over seeds (lowest to highest) at some lengths; how far the best and the worst seed get with 98%."""
    heads = ["system", "seeds", *(f"{n} digits" for n in SHOWN), "98% up to: best seed", "worst seed", "the paper"]
    lines = [heads, ["---"] * len(heads)]
    reported = {system: extension for system, (_, extension) in SYSTEMS.items()}
    reported["FIRE and randomized ids"] = reported[PAPER]
    for setting in settings:
        cells = [median_text(scores_at(setting, digits)) for digits in SHOWN]
        scores = [{row["digits"]: row["exact_match"] for row in seed.exact_match} for seed in setting.seeds]
        reach = sorted((generalization(one, setting.trained, LEVEL) for one in scores), key=lambda one: one.longest)
        ends = [reach[-1].text, reach[0].text] if reach else ["", ""]
        lines.append([setting.label, str(len(scores)), *cells, *ends, reported.get(setting.label, "")])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    main(Path(__file__).parent, [int(seed) for seed in sys.argv[1:]] or range(11, 21))
