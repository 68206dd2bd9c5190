"""`lengthlab board`: records of length generalization, made, shown and checked."""

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from lengthlab.cli.console import Screen, complain, plural, print_json, table
from lengthlab.cli.parameters import Json, Recipe, flag, seeds_of
from lengthlab.errors import UserError, suggestion

if TYPE_CHECKING:
    from lengthlab.board.record import BoardRecord
    from lengthlab.board.tracks import Standing

BOARD = Path("results/board")
Folder = Annotated[Path, Parameter(name="--results", help="Folder of the rows.")]

board = App(name="board", help_format="plaintext")


@board.default
def show(*, results: Folder = BOARD, as_json: Json = False) -> None:
    """Records of length generalization: how far models add, and how little they were trained on.

    A record is a recipe and a row with all its seeds. lengthlab board run RECIPE
    makes one, lengthlab board verify checks them. The rules: docs/board.md
    """
    from lengthlab.board.record import read_board
    from lengthlab.board.tracks import TRACKS, standings

    records, problems = read_board(results)
    ranked = {track.name: standings(track, records) for track in TRACKS}
    if as_json:
        print_json(
            {
                "tracks": [
                    {"name": track.name, "title": track.title, "rule": track.rule}
                    | {"rows": [{"place": one.place, "name": one.record.name, "value": one.value} for one in places]}
                    for track, places in zip(TRACKS, ranked.values(), strict=True)
                ],
                "records": [record.model_dump(mode="json") for record in records],
                "problems": problems,
            }
        )
        return
    console = Screen()
    for track in TRACKS:
        _print_track(console, f"{track.title}: {track.rule}", ranked[track.name])
    for record in records:
        console.say(f"Given to {record.name}: {given(record)}.")
    if few := [record.name for record in records if not record.ranked]:
        console.say(f"Not ranked, for they have fewer than five seeds: {', '.join(few)}.", "dim")
    if not records:
        console.put(f"No rows in {results} yet: lengthlab board run coupling-relative-robust makes one.")
    for problem in problems:
        complain(problem, "yellow")


def _print_track(console: Screen, title: str, places: "list[Standing]") -> None:
    made = table("", ("", "recipe", "record", "seeds"), ("core-minutes", "parameters"))
    for one in places:
        record = one.record
        seeds = f"{record.seeds[0].seed}-{record.seeds[-1].seed}"
        costs = (record.minutes, f"{record.parameters:,}")
        made.add_row(str(one.place), record.name, one.value, seeds, *costs)
    console.say(title, "italic")
    if places:
        console.print(made)
    else:
        console.say("  no record yet", "dim")
    console.say()


def given(record: "BoardRecord") -> str:
    """The aids of a row, without what no model here is given."""
    return "; ".join(aid.sentence for aid in record.aids if aid.question != "outside") or "nothing"


@board.command
def run(
    recipe: Recipe,
    /,
    *,
    seeds: Annotated[str, Parameter(help="Consecutive seeds, five or more to be ranked.")] = "1-5",
    workers: Annotated[int | None, Parameter(help="Runs at a time; one for each core if not given.")] = None,
    replace: Annotated[bool, flag("Put the new row in the place of one of the same name.")] = False,
    results: Folder = BOARD,
    as_json: Json = False,
) -> None:
    """Train a recipe's seeds, test them up the ladder of lengths, write a row.

    Runs that are finished and tests that were made are not made again.

    lengthlab board run coupling-relative-robust --seeds 1-5
    """
    numbers = seeds_of(seeds)
    if (there := results / f"{Path(recipe).stem}.json").exists() and not replace:
        raise UserError(f"{there}: there is such a row already; --replace puts the new one in its place")
    from lengthlab.sweep.trial import SweepOptions

    options = SweepOptions(workers=workers)
    from lengthlab.board.make import make_record
    from lengthlab.board.tracks import TRACKS, reach_text, standings
    from lengthlab.cli.progress import make_view

    console = Screen(stderr=as_json)
    record = make_record(
        recipe,
        numbers,
        results,
        options,
        make_view(console),
        lambda seed, score: console.put(f"seed {seed}: {score.right} of {score.examples} at {score.digits:,} digits"),
    )
    from lengthlab.board.record import read_board

    rows, _ = read_board(results)
    places = [
        (track.title, one.place) for track in TRACKS for one in standings(track, rows) if one.record.name == record.name
    ]
    if as_json:
        print_json(record.model_dump(mode="json") | {"places": dict(places)})
        return
    console.put(f"{record.name}: {reach_text(record)} on all of {plural(len(record.seeds), 'seed')}; "
                f"{record.minutes} core-minutes a seed, {record.parameters:,} parameters")  # fmt: skip
    for title, place in places:
        console.put(f"  {title}: place {place}")
    if not record.ranked:
        console.put("  not ranked: a record needs five seeds")
    console.put(f"row: {results / record.name}.json, recipe: {results / record.name}.yaml")


@board.command
def verify(
    *names: Annotated[str, Parameter(help="Names of rows; all if none is given.")],
    again: Annotated[bool, flag("Also train the first seed of each row again and compare.", "--retrain")] = False,
    results: Folder = BOARD,
    as_json: Json = False,
) -> None:
    """Check rows: checksums, and every number that follows from others.

    Only --retrain shows that a row was really run as it says.
    """
    known = [path.stem for path in sorted(results.glob("*.json"))]
    for name in names:
        if name not in known:
            hint = suggestion(name, known) if known else "there are none yet"
            raise UserError(f"no row {name!r} in {results}; {hint}")
    from lengthlab.board.verify import problems_of

    console, report = Screen(stderr=as_json), []
    for name in names or known:
        problems, notes = problems_of(results / f"{name}.json"), []
        if again and not problems:
            notes, problems = _retrain(results / f"{name}.json", console)
        report.append({"name": name, "problems": problems, "notes": notes, "retrained": again and not problems})
        for problem in problems:
            console.say(f"{name}: {problem}", "red")
        if not problems:
            said = "trained again, it gets as far" if again else "checksum and derived numbers fit"
            same = "; the same counts everywhere" if again and not notes else ""
            console.put(f"{name}: {said}{same}", "green")
        for note in notes:
            console.put(f"  {note}")
    if as_json:
        print_json(report)
    if not report:
        console.put(f"no rows in {results} yet")
    if any(row["problems"] for row in report):
        sys.exit(1)


def _retrain(path: Path, console: Screen) -> tuple[list[str], list[str]]:
    from lengthlab.board.record import read_record
    from lengthlab.board.verify import retrain
    from lengthlab.cli.progress import make_view

    with tempfile.TemporaryDirectory(prefix="lengthlab-board-") as folder:
        return retrain(read_record(path), path.with_suffix(".yaml"), Path(folder), make_view(console))
