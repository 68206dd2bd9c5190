"""lengthlab analyse, as a user runs it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image

from lengthlab.cli.app import main
from lengthlab.figures import style

pytestmark = pytest.mark.xdist_group("analyse")  # they share four trained runs

Lengthlab = Callable[..., tuple[int, str, str]]

ONE_DIGIT = [
    "training.digits=1",
    "training.steps=120",
    "training.batch=100",
    "training.evaluate_every=0",
    "training.checkpoint_every=1000",
    "training.compile=off",
    "training.schedule.warmup=10",
    "model.layers=1",
    "model.width=64",
    "model.heads=2",
    "model.feedforward=256",
    "model.logit_factor_at_test=null",
    "evaluation.digits=1,2",
    "evaluation.examples=32",
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Finished runs: `adds` has learned sums of one digit and no others, `smoke` and `other` have learned nothing."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LENGTHLAB_RUNS", str(folder))
        known: set[Path] = set()
        found = {}
        for name, arguments in {
            "adds": ["coupling-relative-mini", *ONE_DIGIT],
            "smoke": ["smoke", "training.steps=2"],
            "other": ["smoke", "training.steps=2", "seed=9"],
            "sorts": ["smoke", "training.steps=2", "task=sort", "format.hints=0"],
        }.items():
            with pytest.raises(SystemExit, match="0"):
                main(["train", *arguments, "--json"])
            (found[name],) = set(folder.iterdir()) - known
            known.add(found[name])
        yield found


@pytest.fixture
def sketched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One format of few dots: the first test has the pictures as they are."""
    monkeypatch.setitem(style._SETTINGS, "savefig.dpi", 50)
    with style.only("png"):
        yield


def test_a_run_with_right_and_wrong_answers(trained: dict[str, Path], lengthlab: Lengthlab) -> None:
    run = trained["adds"]
    status, out, _ = lengthlab("analyse", str(run), "--examples", "48")
    assert status == 0
    assert f"Error analysis of run {run.name} (last weights)" in out
    assert "coupled ids" in out and "trained on sums of 1-1 digits" in out
    assert "2 is the first tested length beyond" in " ".join(out.split())
    for heading in (
        "1. What goes wrong first?",
        "2. Ends and hints",
        "3. Are carries to blame?",
        "4. Where in the answer?",
        "5. How many digits are wrong?",
        "6. Did it read another place?",
        "Examples",
        "Where does the attention go?",
        "Files",
    ):
        assert heading in out
    lines = out.splitlines()
    written = [index for index, line in enumerate(lines) if line.startswith("    written   ")]
    assert written
    for index in written:  # a mark stands under each token that differs, and nowhere else
        due, wrote, marks = (line[14:] for line in lines[index - 1 : index + 2])
        differing = [k for k, token in enumerate(wrote) if k >= len(due) or token != due[k]]
        assert [k for k, mark in enumerate(marks) if mark == "^"] == differing != []
    for name in ("errors", "alignment", "attention", "bias"):
        with Image.open(run / "analysis" / f"{name}.png") as image:
            assert min(image.size) > 200
        assert (run / "analysis" / f"{name}.svg").read_text().rstrip().endswith("</svg>")
        assert f"{name}.png" in out


@pytest.mark.usefixtures("sketched")
def test_json_says_the_same_and_adds_up(trained: dict[str, Path], lengthlab: Lengthlab, tmp_path: Path) -> None:
    run, folder = trained["adds"], tmp_path / "out"
    before = sorted(run.rglob("*"))
    arguments = ("analyse", str(run), "--digits", "1-2", "--examples", "32", "--out", str(folder), "--json")
    status, out, err = lengthlab(*arguments)
    assert status == 0 and err == ""
    result = json.loads(out)
    assert result == json.loads((folder / "analysis.json").read_text())
    assert {Path(file).parent for file in result["files"]} == {folder}
    assert sorted(run.rglob("*")) == before  # nothing else was touched
    (one,) = result["runs"]
    errors = one["errors"]
    right, wrong = errors["wrong"]
    assert (right["name"], right["count"], wrong["name"], wrong["total"]) == ("1", 0, "2", 32)
    assert sum(kind["count"] for kind in errors["first"]) == wrong["count"] > 0
    assert sum(kind["share"] for kind in errors["first"]) == pytest.approx(1)
    assert sum(fifth["share"] for fifth in errors["fifths"]) == pytest.approx(1)
    assert sum(count["share"] for count in errors["counts"]) == pytest.approx(1)
    evaluation = {row["digits"]: row["exact_match"] for row in json.loads((run / "evaluation.json").read_text())}
    assert {row["digits"]: row["exact_match"] for row in one["alignment"]} == evaluation  # the same 32 problems


@pytest.mark.usefixtures("sketched")
def test_a_run_without_wrong_answers_says_so(trained: dict[str, Path], lengthlab: Lengthlab, tmp_path: Path) -> None:
    """And draws the sum that is asked for."""
    arguments = ("--digits", "1", "--examples", "32", "--sum", "4+8", "--out", str(tmp_path / "out"))
    status, out, _ = lengthlab("analyse", str(trained["adds"]), *arguments)
    assert status == 0 and "No wrong answers" in out and "Every answer was right" in out
    assert f"lengthlab analyse {trained['adds'].name} --digits 2" in out
    assert "1. What goes wrong first?" not in out and "The heat maps show 4 + 8 = 12, answered right." in out
    attention = json.loads((tmp_path / "out" / "analysis.json").read_text())["attention"]
    assert attention["written"] == attention["due"] == ["2", "1", "$"] and not any(attention["wrong"])
    assert sorted(file.name for file in (tmp_path / "out").glob("*.png")) == [
        "alignment.png",
        "attention.png",
        "bias.png",
    ]


@pytest.mark.usefixtures("sketched")
def test_several_runs_are_averaged(trained: dict[str, Path], lengthlab: Lengthlab, tmp_path: Path) -> None:
    runs = [str(trained[name]) for name in ("smoke", "other", "adds")]
    arguments = ("--digits", "1", "--examples", "16", "--out", str(tmp_path / "out"))
    status, out, _ = lengthlab("analyse", *runs, *arguments)
    assert status == 0 and "Error analysis of 3 runs, averaged" in out
    assert "2 of 3 runs gave wrong answers here" in out and "lowest - highest" in out and "±" in out
    result = json.loads((tmp_path / "out" / "analysis.json").read_text())
    (wrong,) = result["average"]["wrong"]
    assert wrong["share"] == pytest.approx(sum(run["errors"]["wrong"][0]["share"] for run in result["runs"]) / 3)
    assert (wrong["low"], wrong["high"]) == (0.0, 1.0)
    assert sorted(file.name for file in (tmp_path / "out").glob("*.png")) == ["alignment.png", "errors.png"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "analyse: name at least one run"),
        (["nosuchrun"], "no run 'nosuchrun'"),
        (["smoke", "--digits", "5-3"], "--digits: '5-3' must go upwards"),
        (["smoke", "--digits", "40"], "format.hints: 32 hints cannot mark 41 places; set at least 41 (--digits"),
        (["smoke", "--examples", "0"], "--examples: at least 1"),
        (["smoke", "--sum", "123"], "'123' is not a question of 2 numbers, such as 123+45"),
        (["smoke", "--sum", "1x+2"], "'1x' is not a number of decimal digits"),
        (["smoke", "--sum", f"{'9' * 40}+1"], "format.hints: 32 hints cannot mark 41 places"),
        (["smoke", "other", "--sum", "1+2"], "--sum: draws the attention of one run; name a single run"),
        (["smoke", "smoke"], "analyse: a run is named twice"),
        (["smoke", "--weights", "ema"], "has no ema weights"),
        (["sorts"], "was trained on sort; analyse explains the mistakes of addition only"),
    ],
)
def test_mistakes_are_told_in_one_line_and_write_nothing(
    arguments: list[str], message: str, trained: dict[str, Path], lengthlab: Lengthlab, tmp_path: Path
) -> None:
    given = [str(trained.get(argument, argument)) for argument in arguments]
    status, out, err = lengthlab("analyse", *given, "--out", str(tmp_path / "out"))
    assert status == 2 and out == ""
    assert message in err and err.count("\n") == 1
    assert not (tmp_path / "out").exists()
