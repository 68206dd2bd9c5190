"""From a recipe and its seeds to a row of the board.

The lengths tested are the same for every recipe: no recipe chooses its own.

    trained on 1-10:   2, 5, 10 | 12, 15, 20, 25, 30, 40, ... 100 | 300, 1,000
    trained on 1-40:   10, 20, 40 | 50, 60, 80, 100, 120, 160, ... 400 | 1,000

Each seed is tested upwards on uniform sums with its last weights, until a length has less than 99% right answers or its
hints, ids or tables end: nothing beyond could count.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import yaml

from lengthlab import api
from lengthlab.batches import Pipeline
from lengthlab.board.record import LEVEL, AidLine, BoardRecord, LengthScore, SeedResult, derived, sealed, write_record
from lengthlab.board.tracks import TRAINED
from lengthlab.config.aids import aids, is_unaided
from lengthlab.config.checks import check, require_length
from lengthlab.config.load import load_config, validate
from lengthlab.config.schema import Config
from lengthlab.errors import RunFailed, UserError
from lengthlab.runs.environment import commit
from lengthlab.runs.files import read_json, write_atomically
from lengthlab.runs.reader import read_run
from lengthlab.runs.run import Run
from lengthlab.runs.seal import digest
from lengthlab.sweep.run import View, run_trials
from lengthlab.sweep.trial import SweepOptions, Trial
from lengthlab.tasks import adds_two_numbers
from lengthlab.training.resume import is_finished

TIMES = (0.25, 0.5, 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9, 10)  # the training length
FAR = (300, 1000)  # digits
EXAMPLES, FAR_EXAMPLES = 500, 200  # sums of each length


def ladder(trained: int) -> list[tuple[int, int]]:
    """Lengths and how many sums of each are tested."""
    near = [int(times * trained) for times in TIMES]
    far = [digits for digits in FAR if digits > near[-1]]
    return [(digits, EXAMPLES) for digits in near] + [(digits, FAR_EXAMPLES) for digits in far]


def rungs(config: Config) -> Iterator[tuple[int, int]]:
    """The lengths of the ladder that a model of this config can read."""
    pipeline = Pipeline(config)
    for digits, examples in ladder(config.training.digits):
        try:
            require_length(pipeline, digits, "the board")
        except UserError:
            return
        yield digits, examples


def climb(path: Path, report: Callable[[LengthScore], None] = lambda score: None) -> list[LengthScore]:
    """The scores of a finished run; what was tested before is not tested again."""
    run, scores = api.Run(path), []
    for digits, examples in rungs(run.config):
        (row,) = run.evaluate([digits], examples=examples, chain=0)
        scores.append(LengthScore(digits=digits, examples=examples, right=round(row["exact_match"] * examples)))
        report(scores[-1])
        if scores[-1].share < LEVEL:
            break
    return scores


Report = Callable[[int, LengthScore], None]  # is called with a seed and each of its scores, as they come


def recipe_text(config: Config, recipe: str) -> str:
    """A recipe file that holds every setting that is not the default, and no seed."""
    settings = config.model_dump(mode="json", exclude_defaults=True, exclude={"seeds", "plugins"})
    return yaml.safe_dump({"description": f"{recipe}, as it was run for the board"} | settings, sort_keys=False)


def board_config(recipe: str) -> Config:
    """The config of a recipe that may have a row; any other is refused."""
    config = load_config(recipe)
    trained = config.training.digits
    if not adds_two_numbers(config.task.model_dump()):
        raise UserError(f"{recipe}: the board is about sums of two numbers, task.kind=addition")
    if trained not in TRAINED:
        lengths = " and ".join(f"1-{digits}" for digits in TRAINED)
        raise UserError(
            f"{recipe}: it trains on 1-{trained} digits; the board has tracks for {lengths} (training.digits)"
        )
    if config.evaluation.operands != "uniform":
        raise UserError(f"{recipe}: evaluation.operands: the board tests uniform sums; use uniform")
    if config.seeds.test:
        raise UserError(f"{recipe}: seeds.test: the board's test problems are the same for all; use 0")
    if config.plugins:
        raise UserError(f"{recipe}: a record is a recipe file that anyone can run, and this one needs a plugin")
    check(config)
    return seeded(config, 0)


def check_seeds(seeds: Sequence[int]) -> None:
    """Seeds are consecutive: whoever leaves out the one that failed leaves a gap."""
    missing = sorted(set(range(min(seeds), max(seeds) + 1)) - set(seeds))
    if missing:
        listed = ", ".join(map(str, missing[:5]))
        raise UserError(f"--seeds: {listed} missing; a row has consecutive seeds, so that none can be left out")


def seeded(config: Config, seed: int) -> Config:
    return validate(config.model_dump(mode="json") | {"seeds": {"weights": seed, "data": seed, "sampling": seed}})


def make_record(
    recipe: str, seeds: Sequence[int], folder: Path, options: SweepOptions, view: View, report: Report = lambda *_: None
) -> BoardRecord:
    """Train what is not trained yet, test it, and write recipe and row into `folder`."""
    check_seeds(seeds)
    config, name = board_config(recipe), Path(recipe).stem
    text = recipe_text(config, name)
    trials = [Trial(f"{name}, seed {seed}", seeded(config, seed), name) for seed in seeds]
    todo = [trial for trial in trials if not is_finished(trial.run)]
    failed = [one for one in run_trials(todo, options, view) if one.state != "finished"] if todo else []
    if failed:
        raise RunFailed(f"{failed[0].trial.label} failed: {failed[0].error}; no row without all its seeds")
    results = [
        result_of(trial.run, seed, climb(trial.run.path, lambda score, seed=seed: report(seed, score)))
        for seed, trial in zip(seeds, trials, strict=True)
    ]
    record = sealed(
        BoardRecord(
            name=name,
            recipe=name,
            recipe_sha256=digest(text.encode()),
            config=config.id,
            made=time.strftime("%Y-%m-%d", time.gmtime()),
            commit=commit(),
            trained_digits=config.training.digits,
            parameters=parameters_of(trials[0].run),
            aids=[AidLine(question=aid.question, sentence=aid.sentence) for aid in aids(config)],
            unaided=is_unaided(config),
            seeds=results,
            **derived(results, config.training.digits),
        )
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / f"{name}.yaml", text)
    write_record(folder, record)
    return record


def parameters_of(run: Run) -> int:
    found = read_run(run.path)
    assert found is not None, "damage is raised"
    return found.row["parameters"]


def result_of(run: Run, seed: int, scores: list[LengthScore]) -> SeedResult:
    """What a finished run cost, and how it did."""
    found = read_run(run.path)
    assert found is not None, "damage is raised"
    environment, spent = read_json(run.path / "environment.json"), run.processor_seconds
    seconds = spent if spent is not None else (found.row["seconds"] or 0.0) * environment.get("threads", 1)
    return SeedResult(
        seed=seed,
        run=run.id,
        steps=found.row["step"],
        examples=found.row["examples"],
        tokens=found.row["tokens"],
        core_minutes=round(seconds / 60, 5),
        timing="median speed" if spent is None else "processor time",
        precision=environment.get("precision", "unknown"),
        machine=environment.get("cpu", "unknown"),
        commit=environment.get("commit"),
        scores=scores,
    )
