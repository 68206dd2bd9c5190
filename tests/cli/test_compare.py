"""`lengthlab compare`: two conditions, one sentence."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lengthlab.statistics import compare

MakeRun = Callable[..., Path]
Command = Callable[..., tuple[int, str, str]]
FIRE = (0.88, 0.97, 1.0, 0.71, 0.86, 0.9)
ROPE = (0.41, 0.2, 0.65, 0.5, 0.3, 0.35)


@pytest.fixture
def runs(make_run: MakeRun) -> Callable[[str, tuple[float, ...]], None]:
    def make(encoding: str, scores: tuple[float, ...]) -> None:
        for seed, score in enumerate(scores):
            seeds = {"seeds.weights": seed, "seeds.data": seed, "seeds.sampling": seed}
            make_run(f"{encoding}{seed}", {3: 1.0, 12: score}, {"encoding": {"kind": encoding}} | seeds)

    return make


ARGUMENTS = ("compare", "encoding = 'fire'", "encoding = 'rope'", "--digits", "12")


def test_five_seeds_are_compared_as_groups(runs: Callable[..., None], lengthlab: Command) -> None:
    runs("fire", FIRE[:5])
    runs("rope", ROPE[:5])
    status, out, err = lengthlab(*ARGUMENTS, "--names", "FIRE,RoPE")
    assert status == 0 and err == ""
    assert "FIRE (encoding = 'fire'): 5 seeds: mean 88%" in out and "RoPE (encoding = 'rope'): 5 seeds: mean 41%" in out
    assert "FIRE beats RoPE at 12 digits: 88% against 41% on average over 5 seeds each (difference 47 points" in out
    assert "p = 0.0079 in a permutation test" in out


def test_six_seeds_are_paired_unless_told_otherwise(runs: Callable[..., None], lengthlab: Command) -> None:
    runs("fire", FIRE)
    runs("rope", ROPE)
    result = json.loads(lengthlab(*ARGUMENTS, "--json")[1])
    assert result["comparison"]["paired"] and result["comparison"]["least_p"] == 2 / 64
    assert result["comparison"]["n"] == [6, 6] and result["groups"][0]["runs"] == [f"fire{seed}" for seed in range(6)]
    assert result["groups"][1]["seeds"] == {str(seed): score for seed, score in enumerate(ROPE)}
    expected = compare(*({str(s): v for s, v in enumerate(g)} for g in (FIRE, ROPE)), paired=True)
    assert (result["comparison"]["low"], result["comparison"]["high"]) == expected.interval
    assert "encoding = 'fire' beats encoding = 'rope' at 12 digits" in result["sentence"]
    apart = json.loads(lengthlab(*ARGUMENTS, "--no-paired", "--json")[1])["comparison"]
    assert not apart["paired"] and apart["p"] == pytest.approx(2 / 924)
    swapped = json.loads(lengthlab("compare", ARGUMENTS[2], ARGUMENTS[1], *ARGUMENTS[3:], "--json")[1])
    assert swapped["comparison"]["difference"] == -result["comparison"]["difference"]


def test_long_conditions_get_short_names(runs: Callable[..., None], lengthlab: Command) -> None:
    runs("fire", FIRE[:3])
    runs("rope", ROPE[:3])
    _, out, _ = lengthlab("compare", "encoding = 'fire' and layers > 0", *ARGUMENTS[2:])
    assert "A (encoding = 'fire' and layers > 0): 3 seeds" in out and "difference between A and B at 12 digits" in out
    assert "So few seeds cannot show a difference, whatever they score" in out


def test_what_a_reader_should_know_is_noted(runs: Callable[..., None], make_run: MakeRun, lengthlab: Command) -> None:
    runs("fire", FIRE[:3])
    runs("rope", ROPE[:3])
    make_run("other", {12: 0.5}, {"encoding": {"kind": "rope"}, "seeds.weights": 9, "model.layers": 4})
    make_run("late", settings={"encoding": {"kind": "fire"}, "seeds.weights": 8})
    _, out, _ = lengthlab(*ARGUMENTS)
    assert "Note that encoding = 'rope' mixes 2 settings, which differ in layers." in out
    assert "1 of 4 runs of encoding = 'fire' were not tested at 12 digits" in out
    assert "over 3 and 4 seeds" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["encoding = 'fire'", "encoding = 'alibi'", "--digits", "12"],
            "no exact match at 12 digits: no run meets it",
        ),
        (["encoding = 'fire'", "encoding = 'rope'", "--digits", "13"], "its runs were tested at 3,12"),
        (["encoding = 'fire'", "true", "--digits", "12"], "3 runs are in both groups, such as fire0"),
        (["encodin = 'fire'", "true", "--digits", "12"], "no column 'encodin'; did you mean encoding?"),
        (["from runs", "true", "--digits", "12"], "expected a condition"),
        (["layers = 1", "layers = 2", "--digits", "12"], "has seed 0 twice: runs fire0 and rope0 differ in encoding"),
        (["encoding = 'fire'", "encoding = 'rope'", "--digits", "12", "--names", "x"], "--names: two names"),
        (["encoding = 'fire'", "encoding = 'rope'", "--digits", "12", "--paired"], "only one of them has 2"),
    ],
)
def test_mistakes(
    arguments: list[str], message: str, runs: Callable[..., None], make_run: MakeRun, lengthlab: Command
) -> None:
    runs("fire", FIRE[:3])
    runs("rope", ROPE[:2])
    make_run("two", {12: 0.5}, {"encoding": {"kind": "none"}, "model.layers": 2})
    status, out, err = lengthlab("compare", *arguments)
    assert status == 2 and out == "" and message in err and err.count("\n") == 1
