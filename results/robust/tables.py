"""The tables of LOG.md, in Markdown: every seed with its 95% interval, and recipes against each other seed by seed."""

from collections.abc import Sequence
from statistics import fmean

from lengthlab.analysis.names import TESTS
from lengthlab.runs.columns import Row
from lengthlab.statistics import percent
from lengthlab.statistics.difference import paired_difference

LEVEL = 0.99
NEAR = 100  # digits: up to here the lowest of all tested lengths is shown
FEWEST_PAIRS = 3


def print_tables(rows: Sequence[Row], others: int = 0) -> None:
    """`rows` are those at each recipe's own factor; `others` says how many more the CSV file has."""
    if not rows:
        print("No finished runs yet.")
        return
    recipes = list(dict.fromkeys(row["recipe"] for row in rows))
    print("Exact match in percent with its 95% Wilson interval.")
    for recipe in recipes:
        for test, words in TESTS.items():
            if mine := [row for row in rows if (row["recipe"], row["test"]) == (recipe, test)]:
                print(f"\n**{recipe}, {words}**\n")
                print(seed_table(mine))
    for other in recipes[1:]:
        print(f"\n**{recipes[0]} against {other}**, seed by seed\n")
        print(paired_table(rows, recipes[0], other))
    if others:
        print(f"\n{others} more rows of exact_match.csv are about other factors at test.")


def seed_table(rows: Sequence[Row]) -> str:
    """A row for each seed; the last counts the seeds that have 99% or more."""
    far = sorted({row["digits"] for row in rows if row["digits"] > NEAR or row["digits"] == NEAR})
    shortest = min(row["digits"] for row in rows)
    heads = ["seed", f"lowest of {shortest}-{NEAR} digits", *(f"{digits:,}" for digits in far)]
    seeds = sorted({row["seed"] for row in rows})
    lines, reached = [], [[] for _ in heads[1:]]
    for seed in seeds:
        mine = {row["digits"]: row for row in rows if row["seed"] == seed}
        near = [row for digits, row in mine.items() if digits <= NEAR]
        found = [min(near, key=lambda row: row["exact_match"], default=None), *(mine.get(digits) for digits in far)]
        for passed, row in zip(reached, found, strict=True):
            passed.extend([row["exact_match"] >= LEVEL] if row else [])
        cells = [cell(row) for row in found]
        if found[0] and found[0]["exact_match"] < 1:
            cells[0] += f" at {found[0]['digits']}"
        lines.append([str(seed), *cells])
    lines.append([f"seeds with {LEVEL:.0%}", *(f"{sum(passed)} of {len(passed)}" for passed in reached)])
    return markdown(heads, lines)


def cell(row: Row | None) -> str:
    """A score with its interval; with few examples as a count."""
    if row is None:
        return ""
    low, high = (f"{100 * row[name]:.3g}" for name in ("low", "high"))
    right = round(row["exact_match"] * row["examples"])
    score = f"{100 * row['exact_match']:.4g}" if row["examples"] >= 100 else f"{right} of {row['examples']}"
    return f"{score} ({low}-{high})"


def paired_table(rows: Sequence[Row], first: str, second: str) -> str:
    """Differences of exact match over the seeds that both have, pair by pair."""
    lines = []
    for test, words in TESTS.items():
        tested = sorted({row["digits"] for row in rows if row["test"] == test and row["digits"] >= NEAR})
        for digits in tested:
            at = [row for row in rows if (row["test"], row["digits"]) == (test, digits)]
            a, b = (
                {row["seed"]: row["exact_match"] for row in at if row["recipe"] == name} for name in (first, second)
            )
            both = sorted(a.keys() & b.keys())
            if len(both) < FEWEST_PAIRS:
                continue
            value, low, high, p = paired_difference([(a[seed], b[seed]) for seed in both])
            means = [percent(fmean(side[seed] for seed in both)) for side in (a, b)]
            points = f"{100 * value:+.1f} ({100 * low:.1f} to {100 * high:.1f})"
            lines.append([words, f"{digits:,}", str(len(both)), *means, points, f"{p:.2g}"])
    if not lines:
        return f"Fewer than {FEWEST_PAIRS} seeds have finished in both."
    return markdown(["test", "digits", "pairs", first, second, "difference in points (95%)", "p"], lines)


def markdown(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, ["---"] * len(heads), *lines])
