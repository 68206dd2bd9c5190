"""From finished run folders to result tables.

Rows of runs that are not on this machine are kept as long as an experiment still needs those runs; all others are
dropped.
"""

from collections.abc import Sequence
from pathlib import Path

from lengthlab.paper.experiment import Experiment, seeds_of, trials
from lengthlab.paper.scales import ScaleName
from lengthlab.paper.tables import COLUMNS, Results, read_table, write_parquet, write_tables
from lengthlab.runs.columns import TRIALS, Row
from lengthlab.runs.files import Damaged
from lengthlab.runs.reader import ERRORS, read_list, read_run
from lengthlab.runs.run import Run

MOST_STEPS = 200  # rows of training.csv for each run
REMEDY = "remove it, or analyse the run again"


def collect(
    experiments: Sequence[Experiment], scale: ScaleName, folder: Path, seeds: Sequence[int] | None = None
) -> Results:
    """Bring the tables in `folder` up to date with the finished runs of these experiments."""
    tables = {table: read_table(folder, table) for table in COLUMNS}
    known = {row["run"] for row in tables["trials"]}
    names = {experiment.name for experiment in experiments}
    members = [row for row in tables["members"] if row["experiment"] not in names]
    finished: dict[str, Run] = {}
    for experiment in experiments:
        before = {row["seed"] for row in tables["members"] if row["experiment"] == experiment.name}
        asked = sorted({*seeds_of(experiment, scale), *(seeds or ()), *before})
        for planned in trials(experiment, scale, asked):
            run = Run.of(planned.config)
            if run.id not in finished and run.status.get("state") == "finished":
                finished[run.id] = run
            if run.id in finished or run.id in known:
                row = {"setting": planned.setting, "seed": planned.seed, "run": run.id}
                members.append({"experiment": experiment.name} | row)
    kept = {row["run"] for row in members} - finished.keys()
    fresh = [rows_of(run) for run in finished.values()]
    for table in COLUMNS.keys() - {"members"}:
        old = [row for row in tables[table] if row["run"] in kept]
        tables[table] = old + [row for rows in fresh for row in rows[table]]
    order = {name: place for place, name in enumerate(sorted({row["experiment"] for row in members}))}
    tables["members"] = sorted(members, key=lambda row: order[row["experiment"]])  # settings as declared
    write_tables(folder, tables)
    write_parquet(folder)
    return Results(folder)


def rows_of(run: Run) -> dict[str, list[Row]]:
    """Everything that the tables have of one finished run; damage is raised, for it would change numbers."""
    record = read_run(run.path)
    assert record is not None, "damage is raised"
    trial = {name: record.row[column.name] for name, column in TRIALS.items()}
    if trial["parameters"] is None:  # its weights were left elsewhere
        from lengthlab.training.estimate import count_parameters

        trial["parameters"] = count_parameters(run.config)
    rows = {
        "trials": [trial],
        "exact_match": [{"chain": record.row["config"]["evaluation"]["chain"]} | row for row in record.evaluation],
        "training": _thinned(record.logged),
        "evolution": [
            {"step": line["step"], "digits": int(digits), "exact_match": share}
            for line in record.metrics
            for digits, share in line.get("exact_match", {}).items()
        ],
        "errors": error_rows(run),
    }
    return {
        table: [{key: row.get(key) for key in COLUMNS[table]} | {"run": run.id} for row in found]
        for table, found in rows.items()
    }


def error_rows(run: Run) -> list[Row]:
    """The error analysis of a run, if it was made: errors.json holds rows of errors.csv without the run."""
    try:
        run.require(run.errors)
        rows, broken = read_list(run.errors, ERRORS)
    except Damaged as damage:
        raise Damaged(run.errors, damage.reason, cure=REMEDY) from None
    if broken:
        raise Damaged(run.errors, "row {}: {}".format(*broken[0]), cure=REMEDY)
    return rows


def _thinned(lines: Sequence[Row]) -> list[Row]:
    """At most so many lines, evenly spaced, the last one among them."""
    step = -(-len(lines) // MOST_STEPS) if lines else 1
    return list(lines[::-1][::step])[::-1]
