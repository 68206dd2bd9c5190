"""Figure 1 on a laptop: every seed of every system, from finished runs, with the paper's numbers beside them.

    python results/figure1/collect.py 11 12 13    # seeds; reads the runs in $LENGTHLAB_RUNS or runs/

Writes `exact_match.csv`, prints a table in Markdown and draws `figure1.png` (every seed) and `best.png` (best of seeds,
as in the paper). Runs that are not finished are named and left for the next time.
"""

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from lengthlab.config.aids import aid_sentences
from lengthlab.config.load import load_config
from lengthlab.figures.data import Seed, Setting, scores_at
from lengthlab.figures.exact_match import best_of_seeds, exact_match_over_seeds
from lengthlab.figures.style import only
from lengthlab.runs.run import Run
from lengthlab.statistics import generalization, percent

SYSTEMS = {  # recipe and the length extension that the paper reports
    "Lee et al. 2023": ("lee2023-laptop", "1.0x"),
    "Kazemnejad et al. 2023": ("kazemnejad2023-laptop", "1.125x"),
    "Shen et al. 2023": ("shen2023-laptop", "1.1x"),
    "Zhou et al. 2023": ("zhou2023-laptop", "1.5x"),
    "Zhou et al. 2024": ("zhou2024-laptop", "2.5x, best of 10"),
    "Abacus": ("abacus-laptop", ""),
    "Position coupling": ("coupling-laptop", ""),
}
COLUMNS = ("system", "recipe", "seed", "run", "digits", "examples", "exact_match", "low", "high")
SHOWN = (40, 50, 60, 80, 100)
LEVEL = 0.98  # the paper's


def main(folder: Path, seeds: Sequence[int]) -> None:
    settings = [setting_of(system, recipe, seeds) for system, (recipe, _) in SYSTEMS.items()]
    with (folder / "exact_match.csv").open("w", newline="") as target:
        writer = csv.DictWriter(target, COLUMNS, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        for setting in settings:
            for seed in setting.seeds:
                named = {"system": setting.label, "recipe": SYSTEMS[setting.label][0], **seed.facts, "seed": seed.seed}
                writer.writerows(named | rounded(row) for row in seed.exact_match)
    print(table(settings))
    begun = [setting for setting in settings if setting.seeds]
    with only("png", "svg"):
        files = exact_match_over_seeds(begun, folder / "figure1", "Figure 1 on a laptop: every seed")
        files += best_of_seeds(begun, folder / "best", "Figure 1 on a laptop: the best seed")
    print(*files, sep="\n", file=sys.stderr)


def setting_of(system: str, recipe: str, seeds: Sequence[int]) -> Setting:
    """The finished seeds of a system."""
    found = []
    for seed in seeds:
        run = Run.of(load_config(recipe, [f"seed={seed}"]))
        if run.status.get("state") == "finished" and (rows := run.evaluation):
            found.append(Seed(seed, rows, facts={"run": run.id}))
        else:
            print(f"{recipe}, seed {seed}: no finished run {run.id}", file=sys.stderr)
    config = load_config(recipe)
    return Setting(system, config.training.digits, found, aids=aid_sentences(config))


def rounded(row: dict[str, object]) -> dict[str, object]:
    return {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in row.items()}


def table(settings: Sequence[Setting]) -> str:
    """Median over seeds (lowest to highest) at some lengths; how far the best and the worst seed get with 98%."""
    heads = ["system", "seeds", *(f"{n} digits" for n in SHOWN), "98% up to: best seed", "worst seed", "the paper"]
    lines = [heads, ["---"] * len(heads)]
    for setting in settings:
        cells = [_scores(scores_at(setting, digits)) for digits in SHOWN]
        scores = [{row["digits"]: row["exact_match"] for row in seed.exact_match} for seed in setting.seeds]
        reach = sorted((generalization(one, setting.trained, LEVEL) for one in scores), key=lambda one: one.longest)
        ends = [reach[-1].text, reach[0].text] if reach else ["", ""]
        lines.append([setting.label, str(len(scores)), *cells, *ends, SYSTEMS[setting.label][1]])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _scores(scores: Sequence[float]) -> str:
    if not scores:
        return ""
    low, high = percent(min(scores)), percent(max(scores))
    return percent(median(scores)) + (f" ({low} to {high})" if len(scores) > 1 else "")


if __name__ == "__main__":
    main(Path(__file__).parent, [int(seed) for seed in sys.argv[1:]] or range(11, 21))
