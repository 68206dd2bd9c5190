"""`lengthlab speedrun`: the fastest record of the board, run here and now."""

import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lengthlab.cli.board import BOARD, Folder
from lengthlab.cli.console import Screen, print_json
from lengthlab.cli.parameters import Json, at_least, flag
from lengthlab.errors import RunFailed

STARTER = "coupling-relative-quick"  # as long as the board has no record


def speedrun(
    *,
    seed: Annotated[int, Parameter(help="Initial weights, data and sampling.")] = 1,
    results: Folder = BOARD,
    dry_run: Annotated[bool, flag("Print what would be run; start nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Train the fastest record on one core, test it at ten times its length.

    Prints the time, the examples it was trained on and the seed. The model is
    not kept: lengthlab train does that.
    """
    at_least(0, seed=seed)
    from lengthlab.board.make import board_config, seeded
    from lengthlab.board.record import LEVEL, LengthScore, read_board
    from lengthlab.board.tracks import TEN, fastest

    best = fastest(read_board(results)[0])
    recipe = str(results / f"{best.name}.yaml") if best else STARTER
    name = best.name if best else STARTER
    config = seeded(board_config(recipe), seed)
    console = Screen(stderr=as_json)
    holder = f"{best.minutes} core-minutes, the mean over {len(best.seeds)} seeds" if best else "no record yet"
    console.put(f"{name}, seed {seed} (the board says: {holder})")
    if dry_run:
        return
    from lengthlab.api import Run
    from lengthlab.board.make import EXAMPLES, result_of
    from lengthlab.cli.progress import make_view
    from lengthlab.sweep.run import run_trials
    from lengthlab.sweep.trial import SweepOptions, Trial

    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lengthlab-speedrun-") as folder:
        trial = Trial(f"{name}, seed {seed}", config, name, Path(folder) / config.id)
        (outcome,) = run_trials([trial], SweepOptions(workers=1), make_view(console))
        if outcome.state != "finished":
            raise RunFailed(f"{trial.label} failed: {outcome.error}")
        minutes = (time.monotonic() - begun) / 60
        digits = TEN * config.training.digits
        (row,) = Run(trial.run.path).evaluate([digits], examples=EXAMPLES, chain=0)
        score = LengthScore(digits=digits, examples=EXAMPLES, right=round(row["exact_match"] * EXAMPLES))
        result = result_of(trial.run, seed, [score])
    said = {"recipe": name, "seed": seed, "core_minutes": result.core_minutes, "minutes": round(minutes, 2)}
    said |= {"examples": result.examples, "digits": digits, "exact_match": score.share}
    said |= {"machine": result.machine, "precision": result.precision}
    if as_json:
        print_json(said)
    else:
        console.put(
            f"time      {result.core_minutes:.2f} core-minutes of training; {minutes:.2f} minutes with its tests"
        )
        console.put(f"examples  {result.examples:,} sums of 1-{config.training.digits} digits")
        console.put(f"seed      {seed}")
        console.put(f"result    {score.share:.1%} of {score.examples} sums of {digits} digits right")
        console.put(f"machine   {result.machine}, {result.precision}")
    if score.share < LEVEL:
        console.put("not a record: fewer than 99% right")
        sys.exit(1)
