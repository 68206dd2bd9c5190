"""Verdicts on made-up tables: every kind of comparison can reach every verdict, and says why."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from lengthlab.errors import UserError
from lengthlab.paper.claim import Claim
from lengthlab.paper.claims import claim_named, load_claims, parse_claim
from lengthlab.paper.comparisons import KINDS
from lengthlab.paper.measures import MEASURES, describe
from lengthlab.paper.tables import Results, write_tables

TRAINED = 6
Rows = list[dict[str, Any]]


def made(folder: Path, settings: Mapping[str, Sequence[Any]], **columns: Mapping[str, Any]) -> Results:
    """Tables in which each setting has seeds with these mean exact matches beyond training (perfect inside).

    `columns` sets columns of trials.csv by setting.
    """
    tables: dict[str, Rows] = {"members": [], "trials": [], "exact_match": []}
    for setting, values in settings.items():
        for seed, value in enumerate(values, start=1):
            run = f"{setting}/{seed}"
            own = {name: by_setting[setting] for name, by_setting in columns.items() if setting in by_setting}
            tables["members"].append({"experiment": "x", "setting": setting, "seed": seed, "run": run})
            trial = {"run": run, "state": "finished", "trained_digits": TRAINED, "final_loss": 0.01}
            tables["trials"].append(trial | own)
            for digits, share in ((5, 1.0), (6, 1.0), (8, value), (10, value)):
                row = {"run": run, "weights": "last", "chain": 0, "digits": digits, "exact_match": share}
                tables["exact_match"].append(row)
    write_tables(folder, tables)
    return Results(folder)


def claim(kind: str, **fields: Any) -> Claim:
    about = {"id": "c", "sentence": "s", "experiment": "x", "measure": "beyond"}
    return parse_claim({"kind": kind} | about | fields)


UNSURE = "not enough evidence"
HIGH, LOW, WIDE = [0.80, 0.85, 0.90, 0.82, 0.88], [0.10, 0.15, 0.12, 0.18, 0.11], [0.0, 0.9, 0.5, 0.1, 0.7]


@pytest.mark.parametrize(
    ("a", "b", "threshold", "finding"),
    [
        (HIGH, LOW, 0.0, "holds"),
        (LOW, HIGH, 0.0, "does not hold"),
        (WIDE, WIDE[::-1], 0.0, "not enough evidence"),
        (HIGH[:2], LOW, 0.0, "not enough evidence"),  # too few seeds
        (HIGH[:3], LOW[:3], 0.0, "not enough evidence"),  # p cannot be small
        ([0.9] * 3, [0.0] * 3, -0.1, "not enough evidence"),  # nor is p asked for here, but three are too few
        (HIGH[:4], LOW[:4], 0.0, "holds"),
        ([0.0] * 5, [0.0] * 5, 0.0, "not enough evidence"),
        ([value / 10 + 0.5 for value in HIGH], [value / 10 + 0.5 for value in LOW], 0.0, "holds"),  # small, but clear
        ([0.5, 0.51, 0.49, 0.5, 0.52], [0.51, 0.5, 0.5, 0.49, 0.51], 0.0, "does not hold"),  # no gain worth the name
        ([0.03, 0.02, 0.04, 0.03, 0.02], [0.02, 0.03, 0.03, 0.02, 0.04], 0.0, "not enough evidence"),  # both too low
        ([0.98, 0.97, 0.99, 0.98, 0.97], [0.97, 0.98, 0.98, 0.97, 0.99], 0.0, "not enough evidence"),  # both too high
        ([0.01] * 5, [0.0] * 5, 0.05, "not enough evidence"),  # the effect could not have shown
        (HIGH, LOW, 0.9, "not enough evidence"),  # neither reaches what is claimed
        (HIGH, [value - 0.01 for value in HIGH], 0.2, "does not hold"),  # less than claimed
        (HIGH, HIGH, -0.1, "holds"),  # no worse by more than 0.1
        (LOW, HIGH, -0.1, "does not hold"),
        ([0.0] * 5, [0.0] * 5, -0.05, "holds"),  # the second had all the room to be better
        ([0.97] * 5, [0.98] * 5, -0.05, "not enough evidence"),  # it had none
    ],
)
def test_better(tmp_path: Path, a: list[float], b: list[float], threshold: float, finding: str) -> None:
    verdict = claim("better", pairs=[["A", "B"]], threshold=threshold).judge(made(tmp_path, {"A": a, "B": b}))
    assert verdict.finding == finding, verdict.parts
    assert verdict.parts[0].seeds == (len(a), len(b))


def test_better_needs_every_pair_and_names_those_that_fail(tmp_path: Path) -> None:
    results = made(tmp_path, {"A": HIGH, "B": LOW, "C": [0.8, 0.9, 0.5, 0.95, 0.7], "D": [0.99] * 5})
    pairs = [["A", "B"], ["A", "C"]]
    verdict = claim("better", pairs=pairs[:1]).judge(results)
    assert verdict.finding == "holds"
    part = verdict.parts[0]
    assert part.means == pytest.approx((0.85, 0.132)) and part.value == pytest.approx(0.718)
    assert part.low is not None and part.high is not None and 0.6 < part.low < 0.718 < part.high < 0.8
    assert part.p == pytest.approx(2 / 252)
    assert part.numbers.startswith("A against B: 0.85 vs 0.132, +0.718 (0.6") and part.numbers.endswith("p = 0.0079")
    verdict = claim("better", pairs=pairs).judge(results)
    assert [part.finding for part in verdict.parts] == ["holds", "not enough evidence"]
    assert verdict.finding == "not enough evidence"
    assert claim("better", pairs=[*pairs, ["A", "D"]]).judge(results).finding == "does not hold"


def test_where_both_are_at_zero_the_numbers_say_why_there_is_no_verdict(tmp_path: Path) -> None:
    results = made(tmp_path, {"A": [0.0] * 5, "B": [0.0] * 5})
    (part,) = claim("better", pairs=[["A", "B"]]).judge(results).parts
    assert part.numbers == "A against B: 0 vs 0, +0 (0 to 0), p = 1; both too low for a difference to show"


def test_better_takes_several_settings_together(tmp_path: Path) -> None:
    results = made(tmp_path, {"A": HIGH[:2], "B": HIGH[2:], "C": LOW})
    verdict = claim("better", pairs=[[["A", "B"], "C"]]).judge(results)
    assert verdict.finding == "holds" and verdict.parts[0].seeds == (5, 5)


@pytest.mark.parametrize(
    ("values", "bounds", "finding"),
    [
        (HIGH, {"at_least": 0.5}, "holds"),
        (LOW, {"at_least": 0.5}, "does not hold"),
        (WIDE, {"at_least": 0.5}, "not enough evidence"),
        (LOW, {"at_most": 0.5}, "holds"),
        (HIGH, {"at_most": 0.5}, "does not hold"),
        (LOW, {"at_least": 0.05, "at_most": 0.25}, "holds"),
        (HIGH, {"at_least": 0.1, "at_most": 0.2}, "does not hold"),
        (WIDE, {"at_least": 0.1, "at_most": 0.5}, "not enough evidence"),
        ([1.0] * 5, {"at_least": 1.0}, "holds"),
        (HIGH[:3], {"at_least": 0.5}, "not enough evidence"),
        ([0.9, 0.95, 0.9, 0.92], {"at_least": 0.5}, "holds"),
    ],
)
def test_level(tmp_path: Path, values: list[float], bounds: dict[str, float], finding: str) -> None:
    assert claim("level", settings=["A"], **bounds).judge(made(tmp_path, {"A": values})).finding == finding


def test_level_misses_a_setting_that_was_not_run(tmp_path: Path) -> None:
    results = made(tmp_path, {"A": HIGH})
    verdict = claim("level", settings=["A", "B"], at_least=0.5).judge(results)
    assert verdict.finding == "not enough evidence" and verdict.of_parts == "holds 1 of 2, not run 1 of 2"
    assert [(part.name, part.finding, part.seeds) for part in verdict.parts] == [
        ("A", "holds", (5,)),
        ("B", "not run", (0,)),
    ]


def test_a_pair_of_which_one_side_has_no_runs_was_not_run(tmp_path: Path) -> None:
    verdict = claim("better", pairs=[["A", "B"], ["A", "C"]]).judge(made(tmp_path, {"A": HIGH, "B": LOW}))
    assert [(part.finding, part.seeds) for part in verdict.parts] == [("holds", (5, 5)), ("not run", (5, 0))]


@pytest.mark.parametrize(
    ("groups", "finding"),
    [
        ({"A": WIDE}, "holds"),
        ({"A": WIDE, "B": WIDE}, "holds"),
        ({"A": [0.50, 0.51, 0.50, 0.51, 0.50]}, "does not hold"),
        ({"A": [0.5, 0.5, 0.5, 0.5, 0.8]}, "not enough evidence"),
        ({"A": [0.0] * 5, "B": [1.0] * 5}, "not enough evidence"),  # they could not differ
        ({"A": [0.0] * 5, "B": WIDE}, "holds"),
        ({"A": WIDE[:3]}, "not enough evidence"),
    ],
)
def test_spread(tmp_path: Path, groups: dict[str, list[float]], finding: str) -> None:
    assert claim("spread", at_least=0.1).judge(made(tmp_path, groups)).finding == finding


def test_spread_is_that_of_seeds_and_not_of_settings(tmp_path: Path) -> None:
    results = made(tmp_path, {"A": [0.1, 0.11, 0.1, 0.11], "B": [0.9, 0.91, 0.9, 0.91]})
    assert claim("spread", at_least=0.1).judge(results).finding == "does not hold"


def test_runs_that_do_not_meet_the_condition_are_left_out(tmp_path: Path) -> None:
    results = made(tmp_path, {"A": WIDE}, final_loss={"A": 0.5})
    strict = claim("spread", at_least=0.1, only=[{"measure": "loss", "at_most": 0.05}])
    assert strict.judge(results).finding == "not enough evidence" and "loss at most 0.05" in strict.rule
    assert claim("spread", at_least=0.1, only=[{"measure": "loss", "at_most": 0.6}]).judge(results).finding == "holds"


RISING = {"A": [0.1, 0.2, 0.15, 0.12], "B": [0.3, 0.4, 0.35, 0.38], "C": [0.8, 0.7, 0.9, 0.75]}


@pytest.mark.parametrize(
    ("settings", "bounds", "finding"),
    [
        (RISING, {"at_least": 0.2}, "holds"),
        (dict(zip("ABC", reversed(RISING.values()), strict=True)), {"at_least": 0.2}, "does not hold"),
        (
            {name: [0.1, 0.9, 0.5, seed] for name, seed in (("A", 0.7), ("B", 0.3), ("C", 0.6))},
            {"at_least": 0.2},
            UNSURE,
        ),
        ({name: values[:3] for name, values in RISING.items()}, {"at_least": 0.2}, UNSURE),  # too few seeds
        (RISING, {"at_most": 0.5}, "does not hold"),
        (dict(zip("ABC", reversed(RISING.values()), strict=True)), {"at_most": 0.5}, "holds"),
        ({"A": RISING["A"], "B": RISING["B"]}, {"at_least": 0.2}, "not enough evidence"),  # two places are no trend
        ({"A": [0.0] * 4, "B": [0.0] * 4, "C": [0.0] * 4}, {"at_least": 0.2}, "not enough evidence"),
    ],
)
def test_trend(tmp_path: Path, settings: dict[str, list[float]], bounds: dict[str, float], finding: str) -> None:
    results = made(tmp_path, settings, parameters={"A": 10, "B": 100, "C": 1000})
    assert claim("trend", by="parameters", **bounds).judge(results).finding == finding


def test_verdicts_are_the_same_every_time(tmp_path: Path) -> None:
    results = made(tmp_path, RISING, parameters={"A": 10, "B": 100, "C": 1000})
    asked = claim("trend", by="parameters", at_least=0.2)
    assert asked.judge(results) == asked.judge(Results(tmp_path))


# ---- measures


def measured(folder: Path, name: str, **tables: Rows) -> float | None:
    trial = {"run": "r", "state": "finished", "trained_digits": TRAINED, "final_loss": 0.25}
    empty: dict[str, Rows] = {"exact_match": [], "training": [], "evolution": [], "errors": []}
    own = {table: [{"run": "r"} | row for row in rows] for table, rows in tables.items()}
    write_tables(folder, {"trials": [trial]} | empty | own)
    return MEASURES[name](Results(folder), "r")


def scores(values: Mapping[int, float]) -> Rows:
    return [{"weights": "last", "chain": 0, "digits": n, "exact_match": share} for n, share in values.items()]


def test_measures_of_exact_match(tmp_path: Path) -> None:
    table = scores({4: 1.0, 6: 0.95, 8: 0.92, 9: 0.6, 12: 0.1})
    expected = {"beyond": 0.54, "inside": 0.975, "at training length": 0.95, "at longest": 0.1, "factor": 8 / 6}
    for name, value in expected.items():
        assert measured(tmp_path, name, exact_match=table) == pytest.approx(value), name
    assert measured(tmp_path, "loss") == 0.25
    assert measured(tmp_path, "beyond", exact_match=scores({4: 1.0})) is None


def test_sharpness_tells_a_jump_from_a_climb(tmp_path: Path) -> None:
    def sharpness(*scores: float) -> float | None:
        course = [(100 * place, score) for place, score in enumerate(scores, start=1)]
        other = [{"step": step, "digits": digits, "exact_match": 1.0} for step, _ in course for digits in (2, 9)]
        own = [{"step": step, "digits": TRAINED, "exact_match": score} for step, score in course]
        return measured(tmp_path, "sharpness", evolution=other + own)

    assert sharpness(0, 0, 0, 1, 1) == pytest.approx(1 - 50 / 500)  # half of the way between two evaluations
    assert sharpness(0.2, 0.4, 0.6, 0.8, 1) == pytest.approx(1 - 250 / 500)
    assert sharpness(0, 0, 0.5, 0.6, 0.7) is None
    assert measured(tmp_path, "sharpness") is None


def test_setback_counts_only_once_the_training_lengths_are_learned(tmp_path: Path) -> None:
    def course(*pairs: tuple[float, float]) -> Rows:
        return [
            {"step": step, "digits": digits, "exact_match": share}
            for step, pair in enumerate(pairs, start=1)
            for digits, share in zip((6, 9), pair, strict=True)
        ]

    early = course((0.5, 0.9), (0.6, 0.1), (1.0, 0.3), (1.0, 0.703), (1.0, 0.2), (1.0, 0.6))  # of 1,000 sums each
    assert measured(tmp_path, "setback", evolution=early) == pytest.approx(0.503, abs=0.03)
    assert measured(tmp_path, "setback", evolution=course((0.5, 0.9), (0.6, 0.1))) is None
    assert (
        measured(tmp_path, "setback", evolution=course((1.0, 0.1), (1.0, 0.0), (1.0, 0.1))) is None
    )  # too low to fall
    assert (
        measured(tmp_path, "setback", evolution=course((0.5, 0.9), (1.0, 0.9), (1.0, 0.2))) is None
    )  # learned too late


def test_measures_of_the_error_analysis(tmp_path: Path) -> None:
    def row(digits: int, measure: str, key: str, value: float) -> dict[str, Any]:
        return {"digits": digits, "examples": 100, "wrong": 10, "measure": measure, "key": key, "value": value}

    rows = [
        row(0, "carry", "wrong digits", 0.55),
        row(0, "carry", "all digits at the same places", 0.50),
        row(0, "counts", "1", 0.2),
        row(4, "counts", "1", 0.0),  # a length of training
        row(8, "counts", "1", 0.9),
        row(9, "counts", "1", 0.7) | {"wrong": 30},
        row(10, "counts", "1", 0.1),  # mostly wrong
    ]
    exact_match = scores({4: 1.0, 8: 0.9, 9: 0.7, 10: 0.4})
    assert measured(tmp_path, "carry excess", errors=rows) == pytest.approx(0.05)
    assert measured(tmp_path, "single digit", errors=rows, exact_match=exact_match) == pytest.approx(0.7)
    assert measured(tmp_path, "single digit", errors=rows) is None
    shifted = [
        row(n, "shifts", key, value) for n, value in ((0, 0.9), (7, 0.3), (10, 0.2)) for key in ("-1", "+1", "+2")
    ]
    luck = [row(n, "shifts base", key, 0.1) for n in (0, 7, 10) for key in ("-1", "+1", "+2")]
    assert measured(tmp_path, "misplaced", errors=shifted + luck) == pytest.approx(0.4)  # at 7 digits
    assert measured(tmp_path, "carry excess") is None


# ---- the paper's claims


def test_the_papers_claims_are_all_there() -> None:
    claims = load_claims()
    assert len(claims) >= 16 and {claim.kind for claim in claims.values()} == KINDS.keys()
    assert {"fire-best", "hints-help", "no-hints-fail", "reversed-better", "sharp-transition"} <= claims.keys()
    assert {"spaces-depend", "randomized-hurt-kerple", "randomized-help-fire"} <= claims.keys()
    assert {"equal-loss-different-reach", "order-matters", "longer-training-extends"} <= claims.keys()
    assert {
        "size-not-decisive",
        "weight-decay-helps",
        "dropout-hurts",
        "carry-alike",
        "one-wrong-digit",
    } <= claims.keys()
    for one in claims.values():
        assert one.sentence.endswith(".") and "holds if" in one.rule and describe(one.measure) in one.rule


def test_without_results_claims_were_not_run(tmp_path: Path) -> None:
    for one in load_claims().values():
        verdict = one.judge(Results(tmp_path))
        assert verdict.finding == "not run" and verdict.seeds == "0" and verdict.of_parts == ""
        assert {part["finding"] for part in verdict.as_dict()["parts"]} == {"not run"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "beter"}, "claim c: unknown kind of comparison 'beter'; did you mean better"),
        ({"kind": "better", "pairs": [["A", "B"]], "measure": "beyon"}, "claim c: measure: .*did you mean beyond"),
        ({"kind": "better", "pair": [["A", "B"]]}, "claim c: pair: no such key; did you mean pairs"),
        ({"kind": "spread"}, "claim c: at_least: field required"),
    ],
)
def test_mistakes_in_claims_are_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_claim({"id": "c", "sentence": "s", "experiment": "x", "measure": "beyond"} | fields)
    with pytest.raises(UserError, match="no claim 'fire-bset'; did you mean fire-best"):
        claim_named("fire-bset")
