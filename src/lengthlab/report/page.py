"""One self-contained HTML page from a folder of result tables."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

from jinja2 import Environment, StrictUndefined

from lengthlab.claims.load import load_claims
from lengthlab.claims.verdict import SYMBOLS, Verdict
from lengthlab.config import Config
from lengthlab.errors import UserError
from lengthlab.experiments.load import Experiment, check_scale, experiment_names, load_experiment
from lengthlab.experiments.scales import SCALES, ScaleName
from lengthlab.experiments.trials import settings as settings_of_scale
from lengthlab.experiments.trials import trials
from lengthlab.figures.style import only
from lengthlab.recipes.load import load_config
from lengthlab.report.draw import anchor, draw_named, settings_of
from lengthlab.report.embed import Picture, picture
from lengthlab.report.settings import as_text, as_yaml, differences
from lengthlab.report.story import alternative
from lengthlab.report.summary import Summary, summarise
from lengthlab.report.tables import SeedTable, seed_table
from lengthlab.results import Member, Results

# As a reader meets them in the paper; experiments of one's own come after.
ORDER = (
    *("systems", "encodings", "index-hints", "digit-order", "random-spaces", "randomized-positions", "interleaved"),
    *("attention-mask", "seeds", "init-vs-order", "training-length", "model-size", "weight-decay", "dropout"),
    *("learning-rate", "evolution", "loss-curves", "errors"),
)
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
    settings: list[tuple[str, list[str]]] = field(default_factory=list)
    planned: int = 0  # runs that the experiment asks for
    other_recipe: int = 0  # runs that were made with other settings than the experiment has now
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        return anchor(self.name)


def build(folder: Path, figures: Path | None = None) -> str:
    """The page for the tables of `folder`, which is named after its scale; figures are kept in `figures` if given."""
    results = Results(folder)
    names = sorted(results.experiments(), key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    if not names:
        raise UserError(f"{folder}: no result tables; `lengthlab reproduce encodings --scale mini` makes some")
    scale = _scale(folder)
    base = base_config(scale)
    verdicts = judge(results)
    with TemporaryDirectory() as scratch, nullcontext() if figures else only("svg"):
        drawings = figures or Path(scratch)
        chapters = [_chapter(name, results, scale, base, drawings, verdicts) for name in names]
    return render(scale, folder, summarise(results), verdicts, chapters, base)


def render(
    scale: str, folder: Path, summary: Summary, verdicts: Sequence[Verdict], chapters: Sequence[Chapter], base: Config
) -> str:
    """Everything put into the template; what comes from tables is escaped."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    files = resources.files("lengthlab.report")
    template = environment.from_string((files / "page.html.jinja").read_text(encoding="utf-8"))
    return template.render(
        css=(files / "page.css").read_text(encoding="utf-8"),
        scale=scale,
        folder=f"{folder.parent.name}/{folder.name}" if folder.parent.name else folder.name,
        summary=summary,
        verdicts=verdicts,
        symbols=SYMBOLS,
        found={finding: sum(verdict.finding == finding for verdict in verdicts) for finding in SYMBOLS},
        chapters=chapters,
        base=as_yaml(base),
    )


def judge(results: Results) -> list[Verdict]:
    """What became of every claim whose experiment has been run."""
    present = set(results.experiments())
    return [claim.judge(results) for claim in load_claims().values() if claim.experiment in present]


def base_config(scale: ScaleName) -> Config:
    """What all experiments of a scale share."""
    return load_config(SCALES[scale].recipe, as_text(SCALES[scale].overrides))


def _scale(folder: Path) -> ScaleName:
    try:
        return check_scale(folder.resolve().name)
    except UserError as error:
        raise UserError(f"{folder}: a folder of result tables is named after its scale; {error}") from None


def _chapter(
    name: str, results: Results, scale: ScaleName, base: Config, drawings: Path, verdicts: Sequence[Verdict]
) -> Chapter:
    experiment = load_experiment(name) if name in experiment_names() else None
    figure = experiment.figure if experiment else "exact_match_over_seeds"
    sentence = experiment.sentence if experiment else OWN_SENTENCE
    files = draw_named(name, figure, results, drawings)
    settings, members = settings_of(name, figure, results), results.members(name)
    claims = set(experiment.claims) if experiment else set()
    return Chapter(
        name=name,
        question=experiment.question if experiment else f"An experiment of your own: {name}",
        sentence=sentence,
        varies=experiment.varies if experiment else "",
        picture=picture(next(file for file in files if file.suffix == ".svg")),
        alternative=alternative(sentence, settings),
        table=seed_table(settings, members, results),
        seed_word="data order" if experiment and experiment.seed == "data" else "seed",
        settings=_differences(experiment, scale, base) if experiment else [],
        planned=len(trials(experiment, scale)) if experiment else len(members),
        other_recipe=_made_otherwise(experiment, scale, members) if experiment else 0,
        verdicts=[verdict for verdict in verdicts if verdict.experiment == name or verdict.id in claims],
    )


def _differences(experiment: Experiment, scale: ScaleName, base: Config) -> list[tuple[str, list[str]]]:
    return [(label, differences(config, base)) for label, config in settings_of_scale(experiment, scale).items()]


def _made_otherwise(experiment: Experiment, scale: ScaleName, members: Sequence[Member]) -> int:
    """How many runs have another id than the experiment would give them now."""
    seeds = sorted({member.seed for member in members})
    now = {(planned.setting, planned.seed): planned.config.id for planned in trials(experiment, scale, seeds)}
    return sum(now.get((member.setting, member.seed)) != member.run for member in members)
