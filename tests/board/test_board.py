"""The board: rows from runs, standings with ties, rows that were tampered with, seeds that are missing."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lengthlab.board import make, verify
from lengthlab.board.record import (
    AidLine,
    BoardRecord,
    LengthScore,
    SeedResult,
    derived,
    read_board,
    sealed,
    write_record,
)
from lengthlab.board.tracks import TRACKS, fastest, standings, track_named
from lengthlab.cli.console import Screen
from lengthlab.cli.progress import make_view
from lengthlab.config.load import load_config
from lengthlab.config.presets import recipe_names
from lengthlab.sweep.trial import Outcome, SweepOptions, Trial
from lengthlab.training.loop import Trainer, Watcher

pytestmark = pytest.mark.xdist_group("board")  # they share the row of two runs

Command = Callable[..., tuple[int, str, str]]
TINY = """
extends: smoke
format: {hints: 0}
positions: sequential
training: {digits: 10, steps: 2, log_every: 1, precision: fp32, compile: "off", evaluate_every: 0, evaluate_digits: []}
evaluation: {digits: "2", examples: 2}
"""


def row(name: str, right: list[int], **changes: Any) -> BoardRecord:
    """A row of five seeds, each with so many of 500 right at 10, 20, 100 and 1,000 digits."""
    trained = changes.get("trained_digits", 10)
    lengths = [10, 20, 100, 1000]
    scores = [LengthScore(digits=n, examples=500, right=hits) for n, hits in zip(lengths, right, strict=False)]
    seeds = [
        SeedResult(
            seed=seed, run="0" * 10, steps=1, examples=1, tokens=1, core_minutes=changes.pop("minutes", 4.0),
            timing="processor time", precision="float32", machine="a", commit=None, scores=scores,
        )
        for seed in range(changes.pop("seeds", 5))
    ]  # fmt: skip
    facts: dict[str, Any] = {
        "recipe": name, "recipe_sha256": "", "config": "", "made": "2026-11-17", "commit": None,
        "trained_digits": trained, "parameters": 1000, "unaided": False,
        "aids": [AidLine(question="ids", sentence="places")],
    }  # fmt: skip
    return sealed(BoardRecord(name=name, seeds=seeds, **facts | changes, **derived(seeds, trained)))


def names(track: str, *records: BoardRecord) -> list[tuple[int, str]]:
    return [(one.place, one.record.name) for one in standings(track_named(track), records)]


def train_here(trials: list[Trial], *_: object) -> list[Outcome]:
    """In this process: others take seconds to start."""
    for trial in trials:
        Trainer(trial.config, trial.run, Watcher()).train()
    return [Outcome(trial, "finished") for trial in trials]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("lengthlab.board.make", "lengthlab.board.verify", "lengthlab.sweep.run"):
        monkeypatch.setattr(f"{place}.run_trials", train_here)
    monkeypatch.setattr(make, "EXAMPLES", 2)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the row of two tiny runs."""
    folder = tmp_path_factory.mktemp("board")
    (folder / "tiny.yaml").write_text(TINY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LENGTHLAB_RUNS", str(folder / "runs"))
        patch.setattr(make, "run_trials", train_here)
        patch.setattr(make, "EXAMPLES", 2)
        heard: list[tuple[int, LengthScore]] = []
        hear = lambda seed, score: heard.append((seed, score))
        make.make_record(str(folder / "tiny.yaml"), [3, 4], folder / "rows", SweepOptions(), make_view(Screen()), hear)
    assert [(seed, score.digits, score.right) for seed, score in heard] == [(3, 2, 0), (4, 2, 0)]
    return folder / "rows"


@pytest.fixture
def made(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, where the commands look."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copytree(original, tmp_path / "results" / "board"))


def test_a_row_is_made_shown_verified_and_retrained(made: Path, lengthlab: Command) -> None:
    board = json.loads(lengthlab("board", "--json")[1])
    (record,) = board["records"]
    assert [seed["seed"] for seed in record["seeds"]] == [3, 4] and record["reach"] == 0 and not record["open_end"]
    assert all(seed["timing"] == "processor time" and seed["core_minutes"] > 0 for seed in record["seeds"])
    assert record["seeds"][0]["run"] == load_config(str(made / "tiny.yaml"), ["seed=3"]).id
    assert [track["rows"] for track in board["tracks"]] == [[]] * len(TRACKS)  # two seeds are no record
    assert "fewer than five seeds: tiny" in lengthlab("board")[1]
    assert lengthlab("board", "verify")[:2] == (0, "tiny: checksum and derived numbers fit\n")
    status, out, _ = lengthlab("board", "verify", "tiny", "--retrain")
    assert status == 0 and "the same counts everywhere" in out
    status, _, err = lengthlab("board", "run", "tiny.yaml")
    assert status == 2 and "--replace" in err
    assert "did you mean tiny?" in lengthlab("board", "verify", "tny")[2]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda row: row["seeds"][0]["scores"][0].update(right=2), "does not fit its checksum"),
        (lambda row: row.update(reach=1000), "its seeds say 0"),
        (lambda row: row.update(parameters=5), "parameters is not that of its recipe"),
        (lambda row: row.update(aids=[]), "aids are not those of its recipe"),
        (lambda row: row["seeds"][0].update(run="0123456789"), "is not one of its recipe"),
        (lambda row: row["seeds"][1].update(seed=5), "4 missing"),
        (lambda row: row["seeds"][0]["scores"].clear(), "is not a row of the board (seeds.0.scores"),
        (lambda row: row.pop("commit"), "is not a row of the board (commit"),
    ],
)
def test_what_was_tampered_with_is_named(made: Path, change: Any, reason: str) -> None:
    """Even where somebody has computed the checksum anew, which the first change has not."""
    path = made / "tiny.json"
    content = json.loads(path.read_text())
    change(content)
    if not reason.startswith(("does not fit", "is not a row")):
        content["sha256"] = sealed(BoardRecord.model_validate(content)).sha256
    path.write_text(json.dumps(content))
    assert any(reason in problem for problem in verify.problems_of(path))


def test_another_recipe_beside_a_row_is_noticed(made: Path, lengthlab: Command) -> None:
    (made / "tiny.yaml").write_text((made / "tiny.yaml").read_text().replace("steps: 2", "steps: 3"))
    status, out, _ = lengthlab("board", "verify")
    assert status == 1 and "tiny.yaml is not the recipe that was run" in out


def test_the_rows_of_this_repository_are_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # with the board's own lengths and examples
    folder = Path(__file__).parents[2] / "results" / "board"
    assert {path.name: found for path in folder.glob("*.json") if (found := verify.problems_of(path))} == {}


def test_a_changed_row_is_not_ranked(tmp_path: Path) -> None:
    honest, other = row("honest", [500, 500, 495, 300]), row("other", [500, 500, 500, 500])
    write_record(tmp_path, honest)
    write_record(tmp_path, other.model_copy(update={"parameters": 1}))
    (tmp_path / "broken.json").write_text("{}")
    records, problems = read_board(tmp_path)
    assert records == [honest] and len(problems) == 2


def test_ranks_and_ties() -> None:
    far, same = row("far", [500, 500, 500, 500], minutes=9.0), row("same", [500, 495, 495, 499], parameters=5)
    near, few = row("near", [500, 494], unaided=True), row("few", [500, 500, 500, 500], seeds=4)
    none, long = row("none", [0]), row("long", [500, 500, 500, 500], trained_digits=40)
    every = (near, same, far, few, none, long)
    assert names("reach-10", *every) == [(1, "far"), (1, "same"), (3, "near")]
    assert names("reach-40", *every) == [(1, "long")]
    assert names("parameters", *every) == [(1, "same"), (2, "far"), (2, "long")]
    assert names("core-minutes", far, same)[0] == (1, "same") and fastest([near, few]) is None
    assert names("no-aids", *every) == [(1, "near")]


def test_reach_needs_every_shorter_length() -> None:
    assert row("gap", [500, 400, 500, 500]).reach == 10
    assert row("open", [500, 500, 500, 500]).open_end and not row("shut", [500, 400]).open_end


def test_the_ladder_is_the_same_for_all() -> None:
    assert [n for n, _ in make.ladder(10)] == [2, 5, 10, 12, 15, 20, 25, *range(30, 101, 10), 300, 1000]
    assert [n for n, _ in make.ladder(40)][-3:] == [360, 400, 1000]
    reads = [n for n, _ in make.rungs(load_config("zhou2024-laptop"))]
    assert reads[-1] == 100  # its hints end there


@pytest.mark.parametrize(
    ("recipe", "change", "reason"),
    [
        ("smoke", "", "the board has tracks for 1-10 and 1-40"),
        ("coupling-relative-mini", "task: {kind: copy}", "sums of two numbers"),
        ("coupling-relative-mini", "evaluation: {operands: sparse}", "uniform"),
        ("coupling-relative-mini", "seeds: {test: 3}", "the same for all"),
    ],
)
def test_recipes_that_have_no_place_are_refused(
    tmp_path: Path, lengthlab: Command, recipe: str, change: str, reason: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"extends: {recipe}\n{change}\n")
    status, _, err = lengthlab("board", "run", str(file), "--results", str(tmp_path / "rows"))
    assert status == 2 and reason in err and not (tmp_path / "rows").exists()


def test_missing_seeds_are_refused(tmp_path: Path, lengthlab: Command) -> None:
    asked = ("board", "run", "coupling-relative-mini", "--seeds", "1-3,5-6", "--results", str(tmp_path / "rows"))
    status, _, err = lengthlab(*asked)
    assert status == 2 and "4 missing" in err and not (tmp_path / "rows").exists()


def test_the_recipe_file_of_a_row_is_the_recipe(tmp_path: Path) -> None:
    for name in recipe_names():
        config = load_config(name)
        (tmp_path / "again.yaml").write_text(make.recipe_text(config, name))
        assert load_config(str(tmp_path / "again.yaml")).id == config.id


def test_speedrun_runs_the_record(made: Path, lengthlab: Command) -> None:
    assert lengthlab("speedrun", "--dry-run")[1] == "coupling-relative-quick, seed 1 (the board says: no record yet)\n"
    config = load_config(str(made / "tiny.yaml"))
    record = row("tiny", [500, 500, 500, 500]).model_copy(update={"config": config.id})
    write_record(made, sealed(record))
    status, out, err = lengthlab("speedrun", "--seed", "7", "--json")
    assert out, err
    said = json.loads(out)
    assert status == 1 and "not a record" in err and "4.0 core-minutes" in err  # it learned nothing
    assert (said["recipe"], said["seed"], said["examples"], said["digits"]) == ("tiny", 7, 16, 100)
