"""`lengthlab reproduce`: an experiment from its runs to its figure and the verdicts on its claims."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from lengthlab.claims.load import claim_named
from lengthlab.commands.claims import print_verdicts
from lengthlab.commands.parameters import Json
from lengthlab.errors import UserError
from lengthlab.experiments.cost import duration, seconds
from lengthlab.experiments.load import Experiment, experiment_names, load_experiment
from lengthlab.experiments.scales import SCALES, ScaleName
from lengthlab.experiments.trials import Planned, trials
from lengthlab.lengths import parse_lengths
from lengthlab.runs import Run
from lengthlab.sweep.trial import EngineName, Outcome, SweepOptions, Trial


def reproduce(
    *names: Annotated[
        str, Parameter(help="Experiments, or YAML files with experiments of your own; all for every one.")
    ],
    scale: Annotated[
        ScaleName, Parameter(help="smoke: seconds a run; mini: minutes on a core; paper: for GPUs.")
    ] = "mini",
    seeds: Annotated[str | None, Parameter(help="Such as 1-3; the experiment's own if not given.")] = None,
    engine: Annotated[EngineName, Parameter(help="Runs in processes here, or on a Ray cluster.")] = "local",
    workers: Annotated[int | None, Parameter(help="Runs at a time; as many as cores if not given.")] = None,
    address: Annotated[str | None, Parameter(help="Of the Ray cluster.")] = None,
    gpus: Annotated[float, Parameter(help="GPUs for each run, with Ray; a fraction shares one.")] = 0.0,
    out: Annotated[Path | None, Parameter(help="Folder of tables and figures; results/SCALE if not given.")] = None,
    collect_only: Annotated[
        bool, Parameter(negative="", show_default=False, help="Train nothing; use the runs that are finished.")
    ] = False,
    dry_run: Annotated[
        bool, Parameter(negative="", show_default=False, help="List every run and its cost; start nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Train the runs of experiments (shared ones once), make result tables, draw the figures, judge the claims."""
    if not names:
        raise UserError("reproduce: name at least one experiment; lengthlab list experiments shows them")
    chosen = [load_experiment(name) for name in (experiment_names() if names == ("all",) else dict.fromkeys(names))]
    numbers = _seeds(seeds)
    planned = {experiment.name: trials(experiment, scale, numbers) for experiment in chosen}
    options = SweepOptions(engine=engine, workers=workers, address=address, gpus=gpus)
    console = Console(stderr=as_json)
    if dry_run:
        runs = describe(planned, scale)
        if as_json:
            print(json.dumps(runs, indent=2))
        else:
            print_plan(runs, scale)
        return
    from lengthlab.checks import check

    for trial in unique(planned):
        check(trial.config)
    outcomes = [] if collect_only else _sweep(unique(planned), options, console)
    report = _finish(chosen, scale, numbers, out or Path("results") / scale, console)
    report |= {
        "failed": [{"run": one.trial.id, "label": one.trial.label, "error": one.error} for one in _failed(outcomes)]
    }
    if as_json:
        print(json.dumps(report, indent=2))
    if _failed(outcomes):
        for one in _failed(outcomes):
            console.print(f"{one.trial.label} failed: {one.error}", style="red", highlight=False, soft_wrap=True)
        sys.exit(1)


def unique(planned: dict[str, list[Planned]]) -> list[Trial]:
    """Every config once, labelled by the first experiment that asks for it."""
    found: dict[str, Trial] = {}
    for trials_ in planned.values():
        for setting, seed, config in trials_:
            found.setdefault(config.id, Trial(f"{setting}, seed {seed}", config))
    return list(found.values())


def describe(planned: dict[str, list[Planned]], scale: ScaleName) -> list[dict[str, Any]]:
    """Every run once: its label, state, estimated seconds and the experiments that share it."""
    users: dict[str, list[str]] = {}
    for name, trials_ in planned.items():
        for one in trials_:
            users.setdefault(one.config.id, []).append(name)
    return [
        {
            "run": trial.id,
            "label": trial.label,
            "experiments": list(dict.fromkeys(users[trial.id])),
            "state": Run.of(trial.config).status.get("state", "to do"),
            "seconds": round(seconds(trial.config, scale), 1),
        }
        for trial in unique(planned)
    ]


def print_plan(runs: Sequence[dict[str, Any]], scale: ScaleName) -> None:
    """What would be done, a line for each run."""
    width = max(len(run["label"]) for run in runs)
    for run in runs:
        time = duration(run["seconds"])
        print(f"{run['run']}  {run['label']:<{width}}  {run['state']:<11}  {time:>8}  {', '.join(run['experiments'])}")
    left = [run for run in runs if run["state"] != "finished"]
    cost = duration(sum(run["seconds"] for run in left))
    print(f"{len(runs)} runs, {len(left)} to do: about {cost} of {SCALES[scale].device} time. Nothing was started.")


def _sweep(todo: list[Trial], options: SweepOptions, console: Console) -> list[Outcome]:
    from lengthlab.sweep.run import run_trials

    return run_trials(todo, options, console)


def _failed(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome.state != "finished"]


def _finish(
    chosen: Sequence[Experiment], scale: ScaleName, seeds: Sequence[int] | None, folder: Path, console: Console
) -> dict[str, Any]:
    """Tables, figures and verdicts of what is finished."""
    from lengthlab.experiments.collect import collect
    from lengthlab.report.draw import draw

    for run in _runs_to_explain(chosen, scale, seeds):
        from lengthlab.analysis.rows import write_error_rows

        write_error_rows(run)
    results = collect(chosen, scale, folder, seeds)
    figures, judged = {}, {}
    for experiment in chosen:
        members = results.members(experiment.name)
        figures[experiment.name] = (
            [str(file) for file in draw(experiment, results, folder / "figures")] if members else []
        )
        judged |= {name: claim_named(name).judge(results) for name in experiment.claims}
    console.print()
    for name, files in figures.items():
        runs = len(results.members(name))
        text = f"{name}: {runs} run{'' if runs == 1 else 's'}; {'  '.join(files) or 'nothing to draw yet'}"
        console.print(text, highlight=False, soft_wrap=True, markup=False)
    console.print(f"tables: {folder}\n", highlight=False, soft_wrap=True, markup=False)
    if judged:
        print_verdicts(console, list(judged.values()))
    verdicts = [verdict.as_dict() for verdict in judged.values()]
    return {"tables": str(folder), "figures": figures, "claims": verdicts}


def _runs_to_explain(chosen: Sequence[Experiment], scale: ScaleName, seeds: Sequence[int] | None) -> list[Run]:
    """The finished runs of experiments that are about mistakes."""
    about = [experiment for experiment in chosen if experiment.figure == "error_panels"]
    runs = {one.config.id: Run.of(one.config) for experiment in about for one in trials(experiment, scale, seeds)}
    return [run for run in runs.values() if run.status.get("state") == "finished"]


def _seeds(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return parse_lengths(text, lowest=0)
    except ValueError as error:
        raise UserError(f"--seeds: {error}") from None
