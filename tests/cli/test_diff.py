"""`lengthlab diff`: the settings in which two recipes or runs differ."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

Command = Callable[..., tuple[int, str, str]]
MakeRun = Callable[..., Path]


def test_diff_shows_what_differs_and_nothing_else(make_run: MakeRun, lengthlab: Command) -> None:
    make_run("abcdef", {5: 1.0}, {"training.steps": 7, "evaluation.digits": [1, 2, 3, 9]})
    rows = json.loads(lengthlab("diff", "smoke", "abcdef", "--json")[1])
    assert [row["name"] for row in rows] == ["training.steps", "evaluation.digits"]
    assert (rows[0]["a"], rows[0]["b"]) == (20, 7)
    _, out, _ = lengthlab("diff", "smoke", "abcdef")
    assert "1-3,9" in out and "training.batch" not in out
    assert lengthlab("diff", "smoke", "smoke")[1] == "smoke and smoke have the same settings\n"
    variants = json.loads(lengthlab("diff", "smoke", "coupling-mini", "--json")[1])
    sections = [row["name"].partition(".")[0] for row in variants]
    assert "positions.symbols" in [row["name"] for row in variants]  # an option of the second alone, beside its like
    assert [one for one, after in pairwise(sections) if one != after] + sections[-1:] == list(dict.fromkeys(sections))
    words = lengthlab("diff", "smoke", "coupling-mini")[1].split()
    assert "true" in words and not {"True", "False", "None"} & set(words)  # as they are typed


def test_a_name_that_nobody_knows_is_refused(lengthlab: Command) -> None:
    status, out, err = lengthlab("diff", "smoke", "")
    assert status == 2 and out == "" and "no recipe, file or run ''" in err
