"""`lengthlab list experiments`: what each varies, how many runs it has and how long they take."""

from typing import Any

from rich.console import Console
from rich.table import Table

from lengthlab.experiments.cost import duration, seconds
from lengthlab.experiments.load import experiment_names, load_experiment
from lengthlab.experiments.scales import SCALE_NAMES, SCALES
from lengthlab.experiments.trials import trials


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


def print_experiments(console: Console) -> None:
    """The list as a table."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("experiment", no_wrap=True)
    table.add_column("what varies", ratio=1)
    for scale in SCALE_NAMES:
        table.add_column(f"{scale}\nruns, {SCALES[scale].device} time", justify="right", no_wrap=True)
    entries = list_experiments()
    for entry in entries:
        if entry is entries[-1]:
            table.add_section()
        cells = [f"{entry[scale]['runs']}, {duration(entry[scale]['seconds'])}" for scale in SCALE_NAMES]
        table.add_row(entry["name"], entry["varies"], *cells)
    console.print(table)
    console.print("\nTimes are rough: one core or one GPU, one run after the other.", highlight=False)
