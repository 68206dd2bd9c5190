"""`lengthlab list`: what can be chosen by name, the experiments, and every option."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from lengthlab.cli.console import Screen, duration, print_json
from lengthlab.cli.parameters import Json
from lengthlab.config.lengths import lengths_text
from lengthlab.errors import UserError, suggestion

Axis = Literal[
    "encodings", "positions", "formats", "tasks", "optimizers", "attentions", "schedules", "recipes", "sizes",
    "figures", "experiments", "options",
]  # fmt: skip


def list_(
    what: Annotated[Axis | None, Parameter(help="By default, everything but experiments and options.")] = None,
    section: Annotated[
        str | None, Parameter(help="With options: a section, such as training or training.schedule.")
    ] = None,
    /,
    *,
    as_json: Json = False,
) -> None:
    """List what can be chosen, the experiments, and all options.

    lengthlab list encodings
    lengthlab list options training
    """
    if section is not None and what != "options":
        raise UserError(f"list {what}: only options have sections, such as lengthlab list options training")
    if what == "options":
        from lengthlab.config.names import all_options

        options = _in_section(all_options(), section)
        (print_json if as_json else _print_options)(options)
    elif what == "experiments":
        experiments = list_experiments()
        (print_json if as_json else _print_experiments)(experiments)
    else:
        from lengthlab.config.catalogue import catalogue, recipes

        listed = {"recipes": recipes()} if what == "recipes" else catalogue()
        if as_json:
            print_json(listed[what] if what else listed)
        else:
            _print_names({axis: items for axis, items in listed.items() if what in (None, axis)})


def _print_names(chosen: Mapping[str, list[dict[str, Any]]]) -> None:
    """Every axis with its names in one column, as wide as the longest of all, and the descriptions wrapped."""
    console, given = Screen(), []
    width = max(len(item["name"]) for items in chosen.values() for item in items)
    for axis, items in chosen.items():
        console.put(axis, "bold")
        grid = Table.grid(Column(width=width + 4), Column())
        for item in items:
            grid.add_row(Text(f"  {item['name']}"), Text(item["description"]))
            if given := item.get("given"):
                grid.add_row("", Text(f"given: {'; '.join(given[:-1]) or 'nothing'}", style="dim"))
        console.print(grid)
    if given:
        console.say(f"All of them: {given[-1]}.", "dim")


def _in_section(options: list[dict[str, Any]], section: str | None) -> list[dict[str, Any]]:
    if section is None:
        return options
    chosen = [option for option in options if f"{option['name']}.".startswith(f"{section}.")]
    if not chosen:
        parts = [option["name"].rpartition(".")[0] for option in options]
        raise UserError(
            f"list options: no section {section!r}; {suggestion(section, dict.fromkeys(filter(None, parts)))}"
        )
    return chosen


def _print_options(options: Sequence[dict[str, Any]]) -> None:
    """Name and default, what can be typed, and under them what it does."""
    console = Screen()
    for option in options:
        console.print(
            Text(f"{option['name']}", style="bold")
            + Text(f"={_default(option)}")
            + Text(f"  {option['type']}", style="cyan")
        )
        only = f" [{option['variant']}]" if "variant" in option else ""
        console.print(Padding(Text(f"{option['description'] or 'no description'}{only}"), (0, 0, 0, 4), expand=False))


def _default(option: dict[str, Any]) -> str:
    """As it is typed."""
    value = json.loads(option["default"])
    if option["type"].startswith("lengths") and value:
        return lengths_text(value)
    return value if isinstance(value, str) else option["default"]


def list_experiments() -> list[dict[str, Any]]:
    """Every experiment with its runs and estimated seconds at each scale, and all together with shared runs once."""
    from lengthlab.paper.experiment import experiment_names, load_experiment, seconds, trials
    from lengthlab.paper.scales import SCALE_NAMES

    def total(costs: dict[str, float]) -> dict[str, Any]:
        return {"runs": len(costs), "seconds": round(sum(costs.values()))}

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
            entry[scale] = total(costs)
            everything[scale] |= costs
        listed.append(entry)
    together = {"name": "all", "varies": "all of them; a run that several share is trained once", "question": ""}
    return [*listed, together | {scale: total(everything[scale]) for scale in SCALE_NAMES}]


def _print_experiments(entries: Sequence[dict[str, Any]]) -> None:
    """For each and each scale the number of runs and their time, and what varies."""
    from lengthlab.paper.scales import SCALE_NAMES, SCALES

    console = Screen()
    width = max(len(entry["name"]) for entry in entries)
    console.put(f"{'runs, time':<{width}}  {'  '.join(f'{scale:<12}' for scale in SCALE_NAMES)}".rstrip(), "bold")
    for entry in entries:
        cells = [f"{entry[scale]['runs']}, {duration(entry[scale]['seconds'])}" for scale in SCALE_NAMES]
        console.put(f"{entry['name']:<{width}}  {'  '.join(f'{cell:<12}' for cell in cells)}".rstrip())
        console.print(Padding(Text(entry["varies"], style="dim"), (0, 0, 0, 4), expand=False))
    devices = ", ".join(f"{scale} on a {SCALES[scale].device}" for scale in SCALE_NAMES)
    console.say(f"Times are rough, one run after the other: {devices}.")
