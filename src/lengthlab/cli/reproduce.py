"""`lengthlab reproduce`: an experiment from its runs to its figure and the verdicts on its claims."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from lengthlab.cli.claims import print_verdicts
from lengthlab.cli.console import Screen, duration, plural, print_json, table
from lengthlab.cli.parameters import Json, flag, place_for, seeds_of
from lengthlab.errors import UserError
from lengthlab.paper.scales import SCALES, ScaleName
from lengthlab.sweep.trial import EngineName, Outcome, SweepOptions, Trial

if TYPE_CHECKING:
    from lengthlab.paper.experiment import Experiment, Planned
    from lengthlab.runs.run import Run

IN_TABLES = "in the tables"  # the state of a run that was trained elsewhere and need not be again


def reproduce(
    *names: Annotated[str, Parameter(help="Names of experiments, or YAML files of your own; all means all.")],
    scale: Annotated[
        ScaleName, Parameter(help="smoke: seconds per run; mini, laptop: minutes per run; paper: for GPUs.")
    ] = "mini",
    seeds: Annotated[str | None, Parameter(help="Seeds, such as 1-3; the experiment's own if not given.")] = None,
    engine: Annotated[EngineName, Parameter(help="Train in processes here, or on a Ray cluster.")] = "local",
    workers: Annotated[int | None, Parameter(help="Runs at a time; one for each core if not given.")] = None,
    address: Annotated[str | None, Parameter(help="Address of the Ray cluster.")] = None,
    gpus: Annotated[float, Parameter(help="With Ray: GPUs for each run; a fraction shares one.")] = 0.0,
    out: Annotated[Path | None, Parameter(help="Folder of tables and figures; results/SCALE if not given.")] = None,
    collect_only: Annotated[bool, flag("Train nothing; use the runs that are finished.")] = False,
    missing: Annotated[bool, flag("Train only the runs that the tables in that folder do not have.")] = False,
    dry_run: Annotated[bool, flag("List every run and its cost; start nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Train experiments, draw their figures, judge their claims.

    A run that several experiments share is trained once, and a finished run is
    not trained again. lengthlab list experiments shows what there is.
    """
    if not names:
        raise UserError("reproduce: name at least one experiment; lengthlab list experiments shows them")
    if out:
        place_for(out, "folder")
    numbers = seeds_of(seeds) if seeds is not None else None
    options = SweepOptions(engine=engine, workers=workers, address=address, gpus=gpus)
    from lengthlab.config.checks import check
    from lengthlab.paper.experiment import experiment_names, load_experiment, trials

    chosen = [load_experiment(name) for name in (experiment_names() if names == ("all",) else dict.fromkeys(names))]
    planned = {experiment.name: trials(experiment, scale, numbers) for experiment in chosen}
    console = Screen(stderr=as_json)
    folder = out or Path("results") / scale
    held = _in_tables(folder) if missing else set()
    if dry_run:
        runs = _describe(planned, scale, held)
        if as_json:
            print_json(runs)
        else:
            _print_plan(runs, scale, console)
        return
    todo = [trial for trial in _unique(planned) if trial.id not in held]
    for trial in todo:
        check(trial.config)
    outcomes = [] if collect_only else _sweep(todo, options, console)
    failed = [outcome for outcome in outcomes if outcome.state != "finished"]
    report = _finish(chosen, scale, numbers, folder, console)
    if as_json:
        named = [{"run": one.trial.id, "label": one.trial.label, "error": one.error} for one in failed]
        print_json(report | {"failed": named})
    for one in failed:
        console.put(f"{one.trial.label} failed: {one.error}", "red")
    if failed:
        sys.exit(1)


def _unique(planned: "dict[str, list[Planned]]") -> list[Trial]:
    """Every config once, labelled by the first experiment that asks for it."""
    found: dict[str, Trial] = {}
    for trials_ in planned.values():
        for one in trials_:
            found.setdefault(one.config.id, Trial(f"{one.setting}, seed {one.seed}", one.config, one.recipe))
    return list(found.values())


def _in_tables(folder: Path) -> set[str]:
    """The runs whose rows are in the tables of a folder, wherever they were trained."""
    from lengthlab.paper.tables import read_table

    return {row["run"] for row in read_table(folder, "trials")}


def _describe(planned: "dict[str, list[Planned]]", scale: ScaleName, held: set[str]) -> list[dict[str, Any]]:
    """Every run once: its label, state, estimated seconds and the experiments that share it."""
    from lengthlab.paper.experiment import seconds

    users: dict[str, list[str]] = {}
    for name, trials_ in planned.items():
        for one in trials_:
            users.setdefault(one.config.id, []).append(name)
    return [
        {
            "run": trial.id,
            "label": trial.label,
            "experiments": list(dict.fromkeys(users[trial.id])),
            "state": IN_TABLES if trial.id in held else trial.run.status.get("state", "to do"),
            "seconds": round(seconds(trial.config, scale), 1),
        }
        for trial in _unique(planned)
    ]


def _print_plan(runs: Sequence[dict[str, Any]], scale: ScaleName, console: Screen) -> None:
    """What would be done, a row for each run."""
    from lengthlab.paper.experiment import experiment_names

    made = table("", ("run", "setting and seed", "state"), ("time",))
    made.add_column("experiments", overflow="fold")
    for run in runs:
        shared = ", ".join(run["experiments"])
        made.add_row(run["run"], run["label"], run["state"], duration(run["seconds"]), shared)
    console.print(made)
    left = [run for run in runs if run["state"] not in ("finished", IN_TABLES)]
    cost = duration(sum(run["seconds"] for run in left))
    device = SCALES[scale].device
    if any(name in experiment_names() for run in runs for name in run["experiments"]):  # others may have any ids
        console.say(f"Position ids: {SCALES[scale].ids}.")
    console.say(f"{plural(len(runs), 'run')}, {len(left)} to do: about {cost} of {device} time. Nothing was started.")


def _sweep(todo: list[Trial], options: SweepOptions, console: Screen) -> list[Outcome]:
    from lengthlab.cli.progress import make_view
    from lengthlab.sweep.run import run_trials

    return run_trials(todo, options, make_view(console))


def _finish(
    chosen: "Sequence[Experiment]", scale: ScaleName, seeds: Sequence[int] | None, folder: Path, console: Screen
) -> dict[str, Any]:
    """Tables, figures and verdicts of what is finished."""
    from lengthlab.analysis.study import write_error_rows
    from lengthlab.paper.claims import claims_about
    from lengthlab.paper.collect import collect
    from lengthlab.report.draw import draw

    unexplained = _runs_to_explain(chosen, scale, seeds)
    for number, run in enumerate(unexplained, 1):  # a minute each at laptop scale
        console.say(f"run {run.id}: looking into its mistakes, {number} of {len(unexplained)}")
        write_error_rows(run)
    results = collect(chosen, scale, folder, seeds)
    figures, judged = {}, {}
    for experiment in chosen:
        members = results.members(experiment.name)
        figures[experiment.name] = (
            [str(file) for file in draw(experiment, results, folder / "figures")] if members else []
        )
        judged |= {claim.id: claim.judge(results) for claim in claims_about(experiment.name)}
    console.say()
    for name, files in figures.items():
        drawn = "  ".join(files) or "nothing to draw yet"
        console.put(f"{name}: {plural(len(results.members(name)), 'run')}; {drawn}")
    console.put(f"tables: {folder}\n")
    if judged:
        print_verdicts(console, list(judged.values()))
    verdicts = [verdict.as_dict() for verdict in judged.values()]
    return {"tables": str(folder), "figures": figures, "claims": verdicts}


def _runs_to_explain(chosen: "Sequence[Experiment]", scale: ScaleName, seeds: Sequence[int] | None) -> "list[Run]":
    """The finished runs of experiments that are about mistakes, if theirs were not looked into before."""
    from lengthlab.paper.experiment import trials
    from lengthlab.runs.run import Run

    about = [experiment for experiment in chosen if "error_panels" in experiment.figures]
    runs = {one.config.id: Run.of(one.config) for experiment in about for one in trials(experiment, scale, seeds)}
    return [run for run in runs.values() if run.status.get("state") == "finished" and not run.errors.exists()]
