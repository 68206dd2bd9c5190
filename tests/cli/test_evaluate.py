"""`lengthlab evaluate`: scores of a run that was trained for real."""

import json
from collections.abc import Callable
from pathlib import Path

from lengthlab.runs.run import Run

Command = Callable[..., tuple[int, str, str]]


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
    assert [row | {"choices": []} for row in Run(trained).evaluation or []] == rows


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


def test_the_layers_can_be_applied_more_often_at_test(trained: Path, lengthlab: Command) -> None:
    asked = ("--digits", "2,3", "--examples", "20", "--json")
    once, again = (
        json.loads(lengthlab("evaluate", str(trained), *more, *asked)[1]) for more in ((), ("model.loops=3",))
    )
    assert again[0]["choices"] == ["model.loops=3"]
    assert [row["token_accuracy"] for row in once] != [row["token_accuracy"] for row in again]
