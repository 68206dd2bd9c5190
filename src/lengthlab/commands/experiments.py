"""`lengthlab list experiments`: what each varies, how many runs it has and how long they take."""

from collections.abc import Sequence
from typing import Any

from lengthlab.experiments.cost import duration, seconds
from lengthlab.experiments.load import experiment_names, load_experiment
from lengthlab.experiments.scales import SCALE_NAMES, SCALES
from lengthlab.experiments.trials import trials

NAME = 20  # width of the names


def list_experiments() -> list[dict[str, Any]]:
    """Every experiment with its runs and estimated seconds at each scale, and all together with shared runs once."""
    listed: list[dict[str, Any]] = []
    everything: dict[str, dict[str, float]] = {scale: {} for scale in SCALE_NAMES}
    for name in experiment_names():
        experiment = load_experiment(name)
        entry: dict[str, Any] = {"name": name, "varies": experiment.varies, "question": experiment.question}
        for scale in SCALE_NAMES:
            costs: dict[str, float] = {}
            by_setting: dict[str, float] = {}
            for planned in trials(experiment, scale):
                if planned.setting not in by_setting:  # a seed changes nothing
                    by_setting[planned.setting] = seconds(planned.config, scale)
                costs[planned.config.id] = by_setting[planned.setting]
            entry[scale] = _sum(costs)
            everything[scale] |= costs
        listed.append(entry)
    together = {"name": "all", "varies": "all of them; a run that several share is trained once", "question": ""}
    return [*listed, together | {scale: _sum(everything[scale]) for scale in SCALE_NAMES}]


def _sum(costs: dict[str, float]) -> dict[str, Any]:
    return {"runs": len(costs), "seconds": round(sum(costs.values()))}


def print_experiments(entries: Sequence[dict[str, Any]]) -> None:
    """The list for people, one line for each."""
    heads = [f"{scale}: runs, {SCALES[scale].device} time" for scale in SCALE_NAMES]
    print(f"{'experiment':<{NAME}}  " + "  ".join(f"{head:<{len(head)}}" for head in heads) + "  what varies")
    for entry in entries:
        cells = [f"{entry[scale]['runs']}, {duration(entry[scale]['seconds'])}" for scale in SCALE_NAMES]
        columns = "  ".join(f"{cell:<{len(head)}}" for cell, head in zip(cells, heads, strict=True))
        print(f"{entry['name']:<{NAME}}  {columns}  {entry['varies']}")
    print("Times are rough: on one core or one GPU, one run after the other.")
