"""The command line from end to end, with a run that trains for real."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lengthlab import __version__
from lengthlab.recipes.load import load_config
from lengthlab.recipes.names import recipe_names
from lengthlab.runs import Run

Command = Callable[..., tuple[int, str, str]]


def test_version_and_help(lengthlab: Command) -> None:
    assert lengthlab("--version")[1].strip() == f"lengthlab {__version__}"
    status, out, _ = lengthlab("--help")
    assert status == 0
    for command in ("list", "show", "train", "evaluate", "add", "figure", "quickstart"):
        assert command in out


def test_list_prints_names_and_descriptions(lengthlab: Command) -> None:
    encodings = json.loads(lengthlab("list", "encodings", "--json")[1])
    assert {"none", "fire"} <= {item["name"] for item in encodings}
    assert all(item.keys() == {"name", "description"} for item in encodings)
    assert "zhou2024-mini" in lengthlab("list")[1]


SMALL = (
    "model.layers=1",
    "model.width=16",
    "model.feedforward=16",
    "model.heads=2",
    "training.steps=2",
    "training.batch=2",
    "training.digits=2",
    "training.evaluate_every=0",
    "evaluation.digits=1-3",
    "evaluation.examples=3",
)


@pytest.mark.parametrize("recipe", recipe_names())
def test_every_recipe_shows_trains_and_evaluates(recipe: str, lengthlab: Command, runs_folder: Path) -> None:
    """At the smallest scale: the recipe's own tasks, formats, ids and encodings, with a model of a few weights."""
    packed = ("training.pack=100",) if load_config(recipe).training.pack else ()
    assert lengthlab("show", recipe, *SMALL)[0] == 0
    status, out, err = lengthlab("train", recipe, *SMALL, *packed, "--json")
    assert status == 0, err
    status, out, err = lengthlab("evaluate", json.loads(out)["run"], "--digits", "1-4", "--examples", "5", "--json")
    assert status == 0 and [row["digits"] for row in json.loads(out)] == [1, 2, 3, 4], err


@pytest.mark.parametrize(
    "overrides",
    [
        (
            "positions=digit-place",
            "encoding=learned",
            "also=[{positions: randomized, encoding: fire}]",
        ),  # Abacus with FIRE
        ("positions=coupled", "encoding=learned", "also=[{positions: sequential, encoding: rope}]"),
        ("encoding=shaw", "also=[{positions: coupled, encoding: clipped}, {positions: sequential, encoding: cope}]"),
        ("task=sort", "format.hints=0", "model.loops=2", "model.injection=true"),
        ("task.kind=addition", "task.operands=3", "format.kind=interleaved", "model.mask=prefix"),
        ("task=subtraction", "format.kind=scratchpad", "model.attention=stick-breaking"),
        ("task=parity", "format.hints=0", "model.log_scaling=learned"),
        ("evaluation.chain=2", "format.padding=none", "format.spaces.probability=0.2", "format.spaces.at_test=true"),
    ],
)
def test_points_of_the_grid_train_and_evaluate(overrides: tuple[str, ...], lengthlab: Command) -> None:
    status, out, err = lengthlab("train", "smoke", *SMALL, *overrides, "--json")
    assert status == 0, err
    assert lengthlab("show", "smoke", *overrides)[0] == 0
    assert lengthlab("evaluate", json.loads(out)["run"], "--json")[0] == 0


def test_rows_of_a_table_that_training_never_meets_are_pointed_out(lengthlab: Command) -> None:
    _, out, _ = lengthlab("train", "lee2023-mini", *SMALL)
    assert "learned encoding: training meets ids up to 10, the test up to 13; the rest stays untrained" in out
    _, out, _ = lengthlab("train", "coupling-mini", *SMALL)
    assert "untrained" not in out


def test_every_option_is_listed_with_a_description(lengthlab: Command) -> None:
    options = json.loads(lengthlab("list", "options", "--json")[1])
    names = {option["name"] for option in options}
    assert {
        "encoding.units",
        "format.spaces.probability",
        "model.loops",
        "training.optimizer.muon_rate",
        "seeds.test",
    } <= names
    assert not [option["name"] for option in options if not option["description"]]
    assert "format.hints" in lengthlab("list", "options")[1]


def test_output_cut_short_by_its_reader_is_no_error() -> None:
    done = subprocess.run(
        f"{sys.executable} -m lengthlab list options | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""


def test_show_lines_up_tokens_places_ids_and_loss(lengthlab: Command) -> None:
    status, out, _ = lengthlab("show", "smoke", "--digits", "2", "--examples", "3")
    assert status == 0
    assert out.count("  tokens  ") == 3 and "randomized ids -> fire" in out
    for example in json.loads(lengthlab("show", "smoke", "--json")[1]):
        lengths = {
            len(example["tokens"]),
            len(example["place"]),
            len(example["loss"]),
            *map(len, example["ids"].values()),
        }
        assert len(lengths) == 1
        assert sum(example["loss"]) == 2 * 4 + 1  # three digits and a carry, each with its hint, and the end


def test_dry_run_writes_nothing(lengthlab: Command, runs_folder: Path) -> None:
    status, out, _ = lengthlab("train", "smoke", "--dry-run")
    assert status == 0 and "parameters" in out and "not started" in out
    cost = json.loads(lengthlab("train", "smoke", "--dry-run", "--json")[1])
    assert cost["parameters"] > 0 and cost["tokens"] > 0
    assert not runs_folder.exists()


def test_evaluate_prints_rows(trained: Path, lengthlab: Command) -> None:
    status, out, _ = lengthlab("evaluate", str(trained), "--digits", "1-2,5", "--examples", "10", "--json")
    rows = json.loads(out)
    assert status == 0 and [row["digits"] for row in rows] == [1, 2, 5]
    assert all(0 <= row["low"] <= row["exact_match"] <= row["high"] <= 1 and row["examples"] == 10 for row in rows)
    for score in ("digit", "token", "length"):
        assert all(row[f"{score}_low"] <= row[f"{score}_accuracy"] <= row[f"{score}_high"] for row in rows)
    assert all((row["weights"], row["chain"], row["choices"]) == ("last", 0, []) for row in rows)
    assert lengthlab("evaluate", str(trained))[0] == 0


def test_evaluate_repeats_what_training_stored(trained: Path, lengthlab: Command) -> None:
    rows = json.loads(lengthlab("evaluate", str(trained), "--json")[1])
    assert [row | {"choices": []} for row in Run(trained).evaluation or []] == [
        {key: value for key, value in row.items() if key != "weights"} for row in rows
    ]


def test_choices_for_the_test_are_recorded_and_others_refused(trained: Path, lengthlab: Command) -> None:
    before = {path.name for path in (trained / "examples").iterdir()}
    status, out, _ = lengthlab(
        "evaluate", str(trained), "positions.at_test=false", "--digits", "2", "--examples", "5", "--json"
    )
    assert status == 0 and json.loads(out)[0]["choices"] == ["positions.at_test=false"]
    (new,) = {path.name for path in (trained / "examples").iterdir()} - before
    assert json.loads((trained / "examples" / new).read_text().splitlines()[0])["choices"] == [
        "positions.at_test=false"
    ]
    status, _, err = lengthlab("evaluate", str(trained), "positions.at_tset=false")
    assert status == 2 and "did you mean positions.at_test?" in err
    status, _, err = lengthlab("evaluate", str(trained), "training.steps=5")
    assert status == 2 and "not a choice for the test" in err


def test_add_asks_the_model(trained: Path, lengthlab: Command) -> None:
    status, out, _ = lengthlab("add", str(trained), "12", "7", "--json")
    answer = json.loads(out)
    assert status == 0 and answer["truth"] == "19" and answer["prompt"].endswith("=")
    assert answer["correct"] == (answer["answer"] == "19")
    assert "the sum is 19" in lengthlab("add", str(trained), "12", "7")[1]  # the smoke recipe learns nothing


def test_figure_draws_png_svg_and_pdf(trained: Path, lengthlab: Command, tmp_path: Path) -> None:
    status, out, _ = lengthlab("figure", str(trained), "--out", str(tmp_path / "drawn" / "curve"), "--json")
    files = [Path(name) for name in json.loads(out)]
    assert status == 0 and [file.suffix for file in files] == [".png", ".svg", ".pdf"]
    assert files[0].read_bytes().startswith(b"\x89PNG") and b"<svg" in files[1].read_bytes()


def test_a_finished_run_is_not_trained_again(lengthlab: Command, runs_folder: Path) -> None:
    arguments = ("train", "smoke", "training.steps=2", "--threads", "1")
    assert lengthlab(*arguments)[0] == 0
    run = Run(next(runs_folder.iterdir()))
    before = run.status["time"]
    assert "finished already" in lengthlab(*arguments)[1]
    assert run.status["time"] == before
    assert lengthlab(*arguments, "--fresh")[0] == 0
    assert run.status["time"] > before


def test_ctrl_c_leaves_a_run_that_says_it_was_interrupted(runs_folder: Path) -> None:
    command = [
        sys.executable,
        "-u",
        "-m",
        "lengthlab",
        "train",
        "smoke",
        "training.steps=5000",
        "training.log_every=1",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:  # wait until it trains
        if "exact match" in line:
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and err.strip() == "lengthlab: interrupted"
    run = Run(next(runs_folder.iterdir()))
    assert run.status["state"] == "interrupted"
    step = run.status["step"]
    resumed = subprocess.Popen(
        [sys.executable, "-u", "-m", "lengthlab", "train", "--resume", run.id], stdout=subprocess.PIPE, text=True
    )
    assert resumed.stdout is not None
    assert resumed.stdout.readline().strip() == f"{run.id}: going on after step {step}"
    resumed.send_signal(signal.SIGINT)
    resumed.communicate(timeout=60)
    assert run.status["step"] >= step


def test_quickstart_trains_side_by_side_draws_and_is_honest(lengthlab: Command, runs_folder: Path) -> None:
    status, out, _ = lengthlab(
        "quickstart", "training.digits=2", "evaluation.digits=1-4", "--recipes", "smoke", "--seeds", "1,2"
    )
    assert status == 1  # neither seed learned anything in 20 steps, and it says so
    assert out.count("FAILED: it did not learn its training lengths") == 2
    assert (runs_folder / "quickstart.png").exists() and (runs_folder / "quickstart.svg").exists()
    assert "What to try next" in out and "seed 1" in out and "seed 2" in out
    assert {run.status["state"] for run in map(Run, runs_folder.glob("*/"))} == {"finished"}


def test_names_with_dots_and_brackets_are_left_alone(trained: Path, lengthlab: Command, tmp_path: Path) -> None:
    files = json.loads(lengthlab("figure", str(trained), "--out", str(tmp_path / "fig.v1.2"), "--json")[1])
    assert [Path(file).name for file in files] == ["fig.v1.2.png", "fig.v1.2.svg", "fig.v1.2.pdf"]
    files = json.loads(lengthlab("figure", str(trained), "--out", str(tmp_path / "fig.png"), "--json")[1])
    assert [Path(file).name for file in files] == ["fig.png", "fig.svg", "fig.pdf"]
