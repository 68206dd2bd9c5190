"""Comparisons against published values, brute force and SciPy's rank test; and what must hold for all of them."""

from dataclasses import replace
from itertools import combinations
from math import comb
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from lengthlab.statistics import Comparison, compare

FIRE = {"1": 0.88, "2": 0.97, "3": 1.0, "4": 0.71, "5": 0.86}
ROPE = {"1": 0.41, "2": 0.2, "3": 0.65, "4": 0.5, "5": 0.3}


def seeds(*values: float) -> dict[str, float]:
    return {str(seed): value for seed, value in enumerate(values)}


def test_darwins_plants() -> None:
    """Fisher 1935, The Design of Experiments, section 17: t = 2.148 of 15 differences of paired plants, p = 0.0497.
    The mean is 20.93 eighths of an inch, its interval by hand 20.93 -+ 2.145 x 9.746."""
    differences = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    crossed = seeds(*(0.5 + difference / 1000 for difference in differences))
    selfed = seeds(*[0.5] * 15)
    result = compare(crossed, selfed, paired=True)
    assert result.p == pytest.approx(0.0497, abs=5e-5) and result.clear
    assert result.interval == pytest.approx((0.00003, 0.04184), abs=1e-5)
    assert result.difference == pytest.approx(0.314 / 15)
    assert result.superiority == pytest.approx(13 / 15)


def test_separate_groups_have_the_least_p() -> None:
    """Every seed of one above every seed of the other: 2 of the C(10, 5) = 252 arrangements are as extreme."""
    result = compare(FIRE, ROPE, names=("FIRE", "RoPE"))
    assert result.p == result.least_p == pytest.approx(2 / 252)
    assert result.superiority == result.delta == 1
    assert result.difference == pytest.approx(0.472) and result.medians == (0.88, 0.41)


@pytest.mark.parametrize(
    ("a", "b"), [((0.9, 0.8, 0.7), (0.6, 0.8, 0.1)), ((1, 1, 0.9, 0.2), (0.9, 0.3)), ((0, 1), (1, 1, 1))]
)
def test_p_is_that_of_all_exchanges_of_labels(a: tuple[float, ...], b: tuple[float, ...]) -> None:
    """Counted with itertools; the smaller tail twice."""
    pool, size = [*a, *b], len(a)

    def difference(chosen: tuple[int, ...]) -> float:
        others = [pool[i] for i in range(len(pool)) if i not in chosen]
        return round(fmean([pool[i] for i in chosen]) - fmean(others), 9)

    observed = difference(tuple(range(size)))
    everything = [difference(chosen) for chosen in combinations(range(len(pool)), size)]
    tails = sum(d <= observed for d in everything), sum(d >= observed for d in everything)
    assert compare(seeds(*a), seeds(*b)).p == pytest.approx(min(1, 2 * min(tails) / len(everything)))


def test_superiority_counts_wins_and_half_of_the_draws() -> None:
    """By hand, 9 pairs: 0.9 wins 3; 0.8 wins 2 and draws 1; 0.7 wins 2. Mann and Whitney's U is the same count."""
    a, b = (0.9, 0.8, 0.7), (0.6, 0.8, 0.1)
    result = compare(seeds(*a), seeds(*b))
    assert result.superiority == pytest.approx(7.5 / 9) == mannwhitneyu(a, b).statistic / 9
    assert result.delta == pytest.approx(6 / 9)


def test_sentences() -> None:
    clear = compare(FIRE, ROPE, names=("FIRE", "RoPE"), where="at 12 digits")
    assert clear.sentence.startswith(
        "FIRE beats RoPE at 12 digits: 88% against 41% on average over 5 seeds each (difference 47 points, 95% int"
    )
    assert ", p = 0.0079 in a permutation test). The medians differ by 47 points; FIRE wins 100%" in clear.sentence
    assert clear.flipped().sentence == clear.sentence  # whoever wins is named first
    unclear = compare(FIRE, seeds(0.9, 0.8, 0.85), names=("FIRE", "Kerple")).sentence
    assert unclear.startswith("No clear difference between FIRE and Kerple: 88% against 85% on average over 5 and 3 ")
    assert " in a permutation test)" in unclear


def test_ties_are_no_wins() -> None:
    alike = compare(seeds(1, 1), seeds(1, 1), names=("FIRE", "RoPE"))
    assert alike.sentence.endswith(
        "; all pairs of seeds are ties. So few seeds cannot show a difference, whatever they "
        "score: train more to find out."
    )
    half = compare(seeds(1, 1), seeds(1, 0.5), names=("FIRE", "RoPE"))
    assert "; FIRE wins 50% of all pairs of seeds, 50% are ties." in half.sentence and half.superiority == 0.75


def test_a_clear_winner_has_an_interval_to_show_for_it() -> None:
    """No arrangement is as extreme, but the spread of one side leaves room for no difference at all."""
    result = compare(seeds(0.9, 0.9, 0.9, 0.9, 0.9), seeds(0.89, 0.89, 0.89, 0.89, 0.0))
    assert result.p < 0.05 and result.interval is not None and result.interval[0] < 0 and not result.clear


def test_too_few_seeds_say_so() -> None:
    """Five pairs can be arranged in 32 ways: seeds that score all or nothing agree by chance in 2 of them."""
    paired = compare(FIRE, ROPE, paired=True, names=("FIRE", "RoPE"))
    assert paired.p < 0.05 and paired.least_p == 2 / 32 and not paired.clear
    assert "over 5 seeds, paired" in paired.sentence and " in a paired t test)" in paired.sentence
    assert "So few seeds cannot show a difference" in paired.sentence
    single = compare({"1": 1.0}, ROPE)
    assert single.p == 1 and single.interval is None and "1 and 5 seeds" in single.sentence


def test_many_seeds_are_drawn_at_random_and_alike_each_time() -> None:
    a, b = (seeds(*((seed * 7 + shift) % 20 / 20 for seed in range(14))) for shift in (0, 6))
    result = compare(a, b)
    assert comb(28, 14) > 200_000 and result.least_p == 2 / 100_000
    assert result == compare(a, b)
    assert result.p == pytest.approx(mannwhitneyu(list(a.values()), list(b.values())).pvalue, abs=0.1)


def test_pairs_need_the_same_seeds() -> None:
    with pytest.raises(ValueError, match="the same seeds"):
        compare({"1": 0.5}, {"2": 0.5}, paired=True)
    with pytest.raises(ValueError, match="at least one seed"):
        compare({}, ROPE)


groups = st.lists(st.integers(0, 20).map(lambda count: count / 20), min_size=1, max_size=5)


def check(result: Comparison) -> None:
    assert 0 <= result.p <= 1 and (result.paired or result.least_p <= result.p + 1e-12)
    assert 0 <= result.superiority <= 1 and -1 <= result.delta <= 1
    if result.interval:
        assert result.interval[0] - 1e-9 <= result.difference <= result.interval[1] + 1e-9
    a, b = result.n
    assert (f"{a} and {b} seeds" if a != b else f"over {a} seed") in result.sentence


@settings(max_examples=25, deadline=None)
@given(groups, groups, st.randoms(use_true_random=False))
def test_exchanging_groups_mirrors_and_the_order_of_seeds_is_nothing(a: list[float], b: list[float], random) -> None:
    result = compare(seeds(*a), seeds(*b))
    check(result)
    assert result == compare(seeds(*random.sample(a, len(a))), seeds(*random.sample(b, len(b))))
    if sorted(a) != sorted(b):
        assert compare(seeds(*b), seeds(*a)) == replace(result.flipped(), names=("A", "B"))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=5))
def test_pairs_can_be_exchanged_too(pairs: list[tuple[int, int]]) -> None:
    a, b = (seeds(*(pair[side] / 20 for pair in pairs)) for side in (0, 1))
    result = compare(a, b, paired=True)
    check(result)
    assert (compare(b, a, paired=True).p, compare(b, a, paired=True).difference) == (result.p, -result.difference)
    assert compare(dict(reversed(a.items())), b, paired=True) == result


@settings(max_examples=15, deadline=None)
@given(groups, st.booleans())
def test_a_group_does_not_differ_from_itself(values: list[float], paired: bool) -> None:
    result = compare(seeds(*values), seeds(*values), paired=paired)
    assert result.p == 1 and result.difference == 0 and result.delta == 0 and not result.clear
    assert result.sentence.startswith("No clear difference")
