"""What systems are given stands under the figures that compare them."""

from pathlib import Path

from lengthlab.figures.curves import Curve, exact_match_by_length
from lengthlab.figures.data import Seed, Setting
from lengthlab.figures.exact_match import best_of_seeds
from lengthlab.figures.ledger import ledger
from lengthlab.figures.style import only
from lengthlab.paper.experiment import load_experiment, trials
from lengthlab.paper.tables import COLUMNS, Results, write_tables
from lengthlab.report.draw import aids_of

ROWS = [{"digits": digits, "exact_match": 0.5, "low": 0.4, "high": 0.6} for digits in (1, 5, 10)]


def test_what_is_shared_is_said_once() -> None:
    assert ledger({"a": ["x", "y"], "b": ["x"], "c": ["x"]}) == [
        "Given to all: x", "Given to a: y", "Given to b and c: nothing more",
    ]  # fmt: skip
    assert ledger({"a": ["x"], "b": []}) == ["Given to a: x", "Given to b: nothing"]
    assert ledger({"a": [], "b": []}) == ["Given to all: nothing"]


def test_it_is_under_figures_of_systems_and_moves_nothing(tmp_path: Path) -> None:
    systems = [Setting(name, 5, [Seed(1, ROWS)], aids=[f"{name} hints"]) for name in ("old", "new")]
    with only("svg"):
        (file,) = best_of_seeds(systems, tmp_path / "best")
        (runs,) = exact_match_by_length([Curve("mine: seed 1", ROWS, 5, ["my hints"])], tmp_path / "runs", "")
    text = file.read_text()
    assert "Given to old: old hints" in text and "Given to new: new hints" in text
    assert "Given to all: my hints" in runs.read_text()


def test_an_experiment_knows_what_its_settings_are_given(tmp_path: Path) -> None:
    """From the configs that its runs were made with; a run of some other config is left out."""
    systems = load_experiment("systems")
    members = [
        {"experiment": "systems", "setting": one.setting, "seed": one.seed, "run": one.config.id}
        for one in (*trials(systems, "smoke", [1]), trials(systems, "laptop", [2])[0])
    ]
    members[0]["run"] = "0123456789"
    tables = {name: [] for name in COLUMNS}
    write_tables(tmp_path, tables | {"members": members})
    given = aids_of("systems", Results(tmp_path))
    assert list(given) == [member["setting"] for member in members[1:]]
    assert "a second encoding, clipped on sequential ids" in given[members[-1]["setting"]]
    assert "training meets position ids that only longer problems need" in given["FIRE and randomized ids"]
    assert any("table of 512" in sentence for sentence in given["Shen et al. 2023"])
