"""One self-contained HTML page from a folder of result tables."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

from jinja2 import Environment, StrictUndefined

from lengthlab.errors import UserError
from lengthlab.figures import FIGURES
from lengthlab.figures.style import only
from lengthlab.paper.claim import SYMBOLS, Verdict
from lengthlab.paper.claims import claims_about, load_claims
from lengthlab.paper.collect import rows_of
from lengthlab.paper.experiment import Experiment, base_config, check_scale, experiment_names, load_experiment, trials
from lengthlab.paper.experiment import settings as settings_of_scale
from lengthlab.paper.scales import SCALE_NAMES, SCALES, ScaleName
from lengthlab.paper.tables import COLUMNS, Member, Results, write_tables
from lengthlab.report.draw import Picture, alternative, anchor, draw_named, findings, picture, settings_of
from lengthlab.report.tables import SeedTable, Totals, as_yaml, changed_settings, seed_table, sums_met_twice, totals
from lengthlab.runs.columns import Row
from lengthlab.runs.labels import setting_labels
from lengthlab.runs.run import Run

FEW = 12  # runs that a command can name
OWN_NAME = "runs"  # what stands for an experiment's name where the runs are one's own
OWN_QUESTION = "How far do your runs go beyond their training lengths?"
OWN_SENTENCE = "Exact match by digit length of every seed, one panel for each setting."


@dataclass(frozen=True)
class Chapter:
    """One experiment as the page shows it."""

    name: str
    question: str
    sentence: str
    varies: str
    picture: Picture
    alternative: str
    table: SeedTable
    seed_word: str
    findings: list[str]  # a sentence for each setting
    again: str  # the command that runs it again, if there is one
    settings: list[tuple[str, list[str]]] = field(default_factory=list)
    met_twice: str = ""  # of test sums that occur in training
    planned: int = 0  # runs that the experiment asks for
    other_recipe: int = 0  # runs that were made with other settings than the experiment has now
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        return anchor(self.name)


def build(folder: Path, figures: Path | None = None, demo: str = "", drawn: bool = True) -> str:
    """The page for the tables of `folder`, with `demo`, a page that runs a model, in it; figures are kept in `figures`.

    Not `drawn`, it has all its numbers but no pictures, which take most of the time.
    """
    return _build(Results(folder), figures, demo, f"lengthlab report --results {_short(folder)}", drawn)


def build_own(runs: Sequence[Run], figures: Path | None = None, demo: str = "") -> str:
    """The same for runs of one's own, which need not belong to any experiment."""
    with TemporaryDirectory() as scratch:
        write_own_tables(runs, Path(scratch))
        named = " ".join(run.id for run in runs) if len(runs) <= FEW else "RUN..."
        return _build(Results(scratch), figures, demo, f"lengthlab report {named}")


def _build(results: Results, figures: Path | None, demo: str, again: str, drawn: bool = True) -> str:
    folder, known = results.folder, experiment_names()
    names = sorted(results.experiments(), key=lambda name: (known.index(name) if name in known else len(known), name))
    if not names:
        raise UserError(f"{folder}: no result tables; `lengthlab reproduce encodings --scale mini` makes some")
    scale = _scale(results)
    verdicts = judge(results)
    with TemporaryDirectory() as scratch, nullcontext() if figures else only("svg"):
        drawings = (figures or Path(scratch)) if drawn else None
        chapters = [_chapter(name, results, scale, drawings, verdicts) for name in names]
    return render(scale, totals(results), verdicts, chapters, demo, again)


def render(
    scale: ScaleName | None,
    summary: Totals,
    verdicts: Sequence[Verdict],
    chapters: Sequence[Chapter],
    demo: str,
    again: str,
) -> str:
    """Everything put into the template; what comes from tables is escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    files = resources.files("lengthlab.report")
    template = environment.from_string((files / "page.html.jinja").read_text(encoding="utf-8"))
    return template.render(
        css=(files / "page.css").read_text(encoding="utf-8"),
        scale=scale or "",
        ids=SCALES[scale].ids if scale else "",
        summary=summary,
        verdicts=verdicts,
        symbols=SYMBOLS,
        found={finding: sum(verdict.finding == finding for verdict in verdicts) for finding in SYMBOLS},
        chapters=chapters,
        demo=demo,
        again=again,
        base=as_yaml(base_config(scale)) if scale else "",
    )


def judge(results: Results) -> list[Verdict]:
    """What became of every claim whose experiment has been run."""
    present = set(results.experiments())
    return [claim.judge(results) for claim in load_claims().values() if claim.experiment in present]


def _short(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}" if folder.parent.name else folder.name


def _scale(results: Results) -> ScaleName | None:
    """The scale that the folder is named after, or else the one whose runs are in it; None for runs of one's own."""
    named = results.folder.resolve().name
    if named in SCALE_NAMES:
        return check_scale(named)
    there = {name: {member.run for member in results.members(name)} for name in results.experiments()}
    for scale in SCALE_NAMES:
        for name in experiment_names():
            if name in there and there[name] & {one.config.id for one in trials(load_experiment(name), scale)}:
                return scale
    return None


def _chapter(
    name: str, results: Results, scale: ScaleName | None, drawings: Path | None, verdicts: Sequence[Verdict]
) -> Chapter:
    experiment = load_experiment(name) if scale and name in experiment_names() else None
    figure = experiment.figure if experiment else FIGURES.default
    sentence = experiment.sentence if experiment else OWN_SENTENCE
    files = draw_named(name, figure, results, drawings) if drawings else []
    settings, members = settings_of(name, results), results.members(name)
    about = {claim.id for claim in claims_about(name)}
    return Chapter(
        name=name,
        question=experiment.question if experiment else OWN_QUESTION if name == OWN_NAME else f"Your own: {name}",
        sentence=sentence,
        varies=experiment.varies if experiment else "",
        picture=picture(next(file for file in files if file.suffix == ".svg")) if files else Picture("", 0, 0),
        alternative=alternative(sentence, settings),
        table=seed_table(settings, members, results),
        seed_word="data order" if experiment and experiment.seed in ("data", "order") else "seed",
        findings=findings(settings),
        again=f"lengthlab reproduce {name} --scale {scale}" if experiment else "",
        settings=_differences(experiment, scale) if experiment and scale else [],
        met_twice=sums_met_twice(members, results) if experiment else "",
        planned=len(trials(experiment, scale)) if experiment and scale else len(members),
        other_recipe=_made_otherwise(experiment, scale, members) if experiment and scale else 0,
        verdicts=[verdict for verdict in verdicts if verdict.id in about],
    )


def _differences(experiment: Experiment, scale: ScaleName) -> list[tuple[str, list[str]]]:
    base = base_config(scale)
    return [(label, changed_settings(config, base)) for label, config in settings_of_scale(experiment, scale).items()]


def _made_otherwise(experiment: Experiment, scale: ScaleName, members: Sequence[Member]) -> int:
    """How many runs have another id than the experiment would give them now."""
    seeds = sorted({member.seed for member in members})
    now = {(planned.setting, planned.seed): planned.config.id for planned in trials(experiment, scale, seeds)}
    return sum(now.get((member.setting, member.seed)) != member.run for member in members)


def write_own_tables(runs: Sequence[Run], folder: Path) -> None:
    """Write the tables of these runs; those that differ only in their seed are one setting."""
    if len({run.path.resolve() for run in runs}) < len(runs):
        raise UserError("report: a run is named twice")
    for run in runs:
        if not run.evaluation:
            raise UserError(f"run {run.id} has no evaluation yet (it is {run.status.get('state', 'unfinished')})")
    configs = [run.config.model_dump(mode="json", exclude={"seeds"}) for run in runs]
    tables: dict[str, list[Row]] = {table: [] for table in COLUMNS}
    labels = setting_labels(configs, [run.recipe for run in runs])
    for run, label in zip(runs, labels, strict=True):
        seed = run.config.seeds.weights
        tables["members"].append({"experiment": OWN_NAME, "setting": label, "seed": seed, "run": run.id})
        for table, rows in rows_of(run).items():
            tables[table] += rows
    write_tables(folder, tables)
