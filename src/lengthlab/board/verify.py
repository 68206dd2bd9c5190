"""Check a row: against its checksum, its recipe and the rules; and by training its first seed again."""

from collections.abc import Sequence
from pathlib import Path

from lengthlab.board.make import board_config, check_seeds, climb, rungs, seeded
from lengthlab.board.record import BoardRecord, LengthScore, checksum, derived, read_record
from lengthlab.config.aids import aids, is_unaided
from lengthlab.errors import RunFailed, UserError
from lengthlab.runs.seal import digest_of
from lengthlab.sweep.run import View, run_trials
from lengthlab.sweep.trial import SweepOptions, Trial
from lengthlab.training.estimate import count_parameters


def problems_of(path: Path) -> list[str]:
    """Everything about a row that does not fit, a sentence each; none if all of it does."""
    try:
        record = read_record(path)
    except FileNotFoundError:
        raise UserError(f"no row {path.stem!r} in {path.parent}; lengthlab board lists them") from None
    except UserError as error:
        return [str(error)]
    found = [] if record.sha256 == checksum(record) else ["its content does not fit its checksum"]
    if record.name != path.stem:
        found.append(f"it calls itself {record.name}")
    seeds = [seed.seed for seed in record.seeds]
    if len(set(seeds)) < len(seeds):
        found.append("a seed is listed twice")
    try:
        check_seeds(seeds)
    except UserError as error:
        found.append(str(error).removeprefix("--"))
    now = derived(record.seeds, record.trained_digits)
    found += [f"{name} is {getattr(record, name)}, its seeds say {value}" for name, value in now.items()
              if getattr(record, name) != value]  # fmt: skip
    try:
        return found + _against_recipe(record, path.with_suffix(".yaml"))
    except UserError as error:
        return [*found, str(error)]


def _against_recipe(record: BoardRecord, file: Path) -> list[str]:
    """What the recipe says of ids, aids and lengths, against the row."""
    if digest_of(file) != record.recipe_sha256:
        return [f"{file.name} is not the recipe that was run"]
    config = board_config(str(file))
    facts = {
        "config": config.id,
        "trained_digits": config.training.digits,
        "parameters": count_parameters(config),
        "unaided": is_unaided(config),
    }
    found = [f"{name} is not that of its recipe" for name, value in facts.items() if getattr(record, name) != value]
    if [aid.question for aid in record.aids] != [aid.question for aid in aids(config)]:  # words may change in time
        found.append("aids are not those of its recipe")
    ladder = list(rungs(config))
    for seed in record.seeds:
        if seeded(config, seed.seed).id != seed.run:
            found.append(f"seed {seed.seed}: run {seed.run} is not one of its recipe")
        tested = [(score.digits, score.examples) for score in seed.scores]
        ended = seed.failed or len(tested) == len(ladder)
        if tested != ladder[: len(tested)] or not ended or any(score.right > score.examples for score in seed.scores):
            found.append(f"seed {seed.seed}: it was not tested by the board's rules")
    return found


def retrain(record: BoardRecord, recipe: Path, runs: Path, view: View) -> tuple[list[str], list[str]]:
    """Train the first seed again, in the folder `runs`, and test it; returns the counts that differ now, and problems.

    The same code on the same kind of processor gives the same numbers; elsewhere rounding may differ. So other counts
    are no problem, as long as the seed gets as far as the row says.
    """
    first = record.seeds[0]
    config = seeded(board_config(str(recipe)), first.seed)
    trial = Trial(f"{record.name}, seed {first.seed} again", config, record.recipe, runs / config.id)
    (outcome,) = run_trials([trial], SweepOptions(workers=1), view)
    if outcome.state != "finished":
        raise RunFailed(f"{trial.label} failed: {outcome.error}")
    scores = climb(trial.run.path)
    again = first.model_copy(update={"scores": scores}).reach(record.trained_digits)
    short = [] if again >= record.reach else [f"trained again it reaches {again:,} digits, not {record.reach:,}"]
    return changed_scores(first.scores, scores), short


def changed_scores(before: Sequence[LengthScore], now: Sequence[LengthScore]) -> list[str]:
    """Where two climbs differ."""
    then = {score.digits: score for score in before}
    return [
        f"{score.digits:,} digits: {score.right} of {score.examples} right, {then[score.digits].right} before"
        for score in now
        if score.digits in then and score.right != then[score.digits].right
    ]
