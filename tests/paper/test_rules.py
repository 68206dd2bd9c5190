"""The rules by simulation: where chance decides they say nothing, where there is an effect they find it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lengthlab.paper.claim import Finding, Verdict
from lengthlab.paper.claims import claim_named
from lengthlab.paper.measures import SHARES
from lengthlab.paper.tables import Results, write_tables
from lengthlab.statistics.difference import LEAST_PAIRS, LEVEL, difference, paired_difference

TRAINED, SEEDS, SUMS = 6, 5, 64
Rows = list[dict[str, Any]]


def judged(folder: Path, name: str, evolution: dict[str, np.ndarray]) -> Verdict:
    """A claim about how exact match goes: for each setting (seeds, evaluations, two lengths beyond training)."""
    tables: dict[str, Rows] = {"members": [], "trials": [], "evolution": []}
    for setting, seeds in evolution.items():
        for seed, courses in enumerate(seeds, start=1):
            run = f"{setting}/{seed}"
            tables["members"].append({"experiment": "evolution", "setting": setting, "seed": seed, "run": run})
            tables["trials"].append({"run": run, "state": "finished", "trained_digits": TRAINED})
            tables["evolution"] += [
                {"run": run, "step": step, "digits": digits, "exact_match": share}
                for step, scores in enumerate(courses, start=1)
                for digits, share in ((TRAINED, 1.0), (8, scores[0]), (10, scores[1]))
            ]
    write_tables(folder, tables)
    return claim_named(name).judge(Results(folder))


@pytest.mark.parametrize("skill", [0.3, 0.5, 0.8])
def test_a_steady_skill_does_not_fall_back(tmp_path: Path, skill: float) -> None:
    """Forty evaluations of 64 sums: without the correction each of these fell back by more than 0.1."""
    rng = np.random.default_rng(1)
    for repetition in range(2):
        steady = {name: rng.binomial(SUMS, skill, (SEEDS, 40, 2)) / SUMS for name in ("RoPE", "KerpleLog", "NoPE")}
        verdict = judged(tmp_path / str(repetition), "reach-fluctuates", steady)
        assert [part.finding for part in verdict.parts] == ["does not hold"] * 3, verdict.parts


def test_a_skill_that_falls_back_is_found_and_fire_may_rise_steadily(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    skill = np.tile([0.3, 0.5, 0.7, 0.4, 0.3, 0.6, 0.7, 0.5], (SEEDS, 1))[:, :, None].repeat(2, axis=2)
    volatile = {name: rng.binomial(SUMS, skill) / SUMS for name in ("RoPE", "KerpleLog", "NoPE")}
    rising = np.sort(rng.random((SEEDS, 8, 2)), axis=1)
    verdict = judged(tmp_path, "reach-fluctuates", volatile | {"FIRE": rising})
    assert verdict.finding == "holds" and len(verdict.parts) == 3, verdict.parts


def test_one_wrong_digit_means_nine_of_ten(tmp_path: Path) -> None:
    def verdict(share: float) -> Finding:
        tables: dict[str, Rows] = {"members": [], "trials": [], "exact_match": [], "errors": []}
        for seed in range(SEEDS):
            run = {"run": str(seed)}
            tables["members"].append({"experiment": "errors", "setting": "FIRE", "seed": seed} | run)
            tables["trials"].append({"state": "finished", "trained_digits": TRAINED} | run)
            tables["exact_match"].append({"weights": "last", "chain": 0, "digits": 8, "exact_match": 0.9} | run)
            found = {"digits": 8, "wrong": 50, "measure": "counts", "key": "1", "value": share + seed / 1000}
            tables["errors"].append(found | run)
        write_tables(tmp_path, tables)
        return claim_named("one-wrong-digit").judge(Results(tmp_path)).finding

    assert verdict(0.95) == "holds"
    assert verdict(0.65) == "does not hold"  # most, but not nine of ten


def draws(rng: np.random.Generator, seeds: int, correlation: float, effect: float) -> np.ndarray:
    """Scores of pairs of runs (seeds, 2), spread by 0.15 over seeds, which share part of their luck."""
    shared, own = rng.normal(size=(seeds, 1)), rng.normal(size=(seeds, 2))
    return 0.5 + 0.15 * (correlation**0.5 * shared + (1 - correlation) ** 0.5 * own) + [effect, 0.0]


def test_pairs_decide_where_as_many_independent_seeds_do_not() -> None:
    rng = np.random.default_rng(3)
    samples = [draws(rng, LEAST_PAIRS, 0.8, 0.15) for _ in range(40)]
    paired = sum(paired_difference([(a, b) for a, b in pairs]).low > 0 for pairs in samples)
    independent = sum(difference(pairs[:, 0].tolist(), pairs[:, 1].tolist()).low > 0 for pairs in samples)
    assert paired > 30 and independent < 20, (paired, independent)


@pytest.mark.parametrize("kind", ["normal", "all or nothing"])
def test_without_a_difference_pairs_seldom_decide(kind: str) -> None:
    rng = np.random.default_rng(4)
    wrong, of = 0, 600
    for _ in range(of):
        pairs = draws(rng, LEAST_PAIRS, 0.5, 0.0)
        if kind == "all or nothing":  # one of each pair succeeds: the worst case for so few
            first = rng.integers(0, 2, LEAST_PAIRS)
            pairs = np.stack([first, 1 - first], axis=1).astype(float)
        found = paired_difference([(a, b) for a, b in pairs])
        wrong += found.p < LEVEL and (found.low > 0 or found.high < 0)
    assert wrong / of < LEVEL + 0.02


def scored(folder: Path, settings: dict[str, list[float]], **trial: Any) -> Results:
    """The experiment `encodings` with these scores beyond training, seed by seed."""
    tables: dict[str, Rows] = {"members": [], "trials": [], "exact_match": []}
    for setting, values in settings.items():
        for seed, value in enumerate(values):
            run = {"run": f"{setting}/{seed}"}
            tables["members"].append({"experiment": "encodings", "setting": setting, "seed": seed} | run)
            seeds = {"seed_weights": seed, "seed_data": 0, "seed_sampling": 0}
            own = {name: by_setting[setting] for name, by_setting in trial.items() if setting in by_setting}
            tables["trials"].append({"state": "finished", "trained_digits": TRAINED} | seeds | own | run)
            tables["exact_match"].append({"weights": "last", "chain": 0, "digits": 8, "exact_match": value} | run)
    write_tables(folder, tables)
    return Results(folder)


def test_runs_are_paired_where_they_share_their_seeds(tmp_path: Path) -> None:
    luck = [0.1, 0.3, 0.5, 0.2, 0.6, 0.4, 0.25]
    better = [value + gain for value, gain in zip(luck, (0.04, 0.06, 0.05, 0.07, 0.03, 0.05, 0.06), strict=True)]
    settings = {"FIRE": better, "RoPE": luck, "KerpleLog": luck, "NoPE": luck[:5]}
    results = scored(tmp_path, settings, seed_data={"KerpleLog": 7})
    rope, kerple, nope = claim_named("fire-best").judge(results).parts
    assert rope.finding == "holds" and rope.note == "paired" and rope.seeds == (7, 7)
    assert kerple.finding == "not enough evidence" and kerple.note == ""  # other data: no pairs
    assert nope.finding == "not enough evidence" and nope.note == "" and nope.seeds == (7, 5)  # too few pairs


def test_intervals_of_shares_are_shares(tmp_path: Path) -> None:
    wild = [0.0, 1.0, 1.0, 1.0, 0.1]
    results = scored(tmp_path, {"FIRE": wild, "RoPE": wild[::-1], "KerpleLog": [1.0] * 5, "NoPE": [0.0, 0.0, 0.0, 0.9]})
    level = claim_named("no-hints-fail").model_copy(update={"experiment": "encodings", "settings": ("FIRE",)})
    assert level.measure in SHARES and "beyond" in SHARES
    (part,) = level.model_copy(update={"measure": "beyond"}).judge(results).parts
    assert part.low is not None and part.low >= 0.0 and part.high == 1.0
    for part in claim_named("fire-best").judge(results).parts:
        assert part.low is not None and part.high is not None and -1.0 <= part.low <= part.high <= 1.0
    spread = claim_named("equal-loss-different-reach").model_copy(update={"experiment": "encodings", "only": ()})
    (part,) = spread.judge(results).parts
    assert part.value is not None and part.high == max(part.value, 0.5)  # which is exact for many seeds, not for five
