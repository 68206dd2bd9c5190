"""The tables of an error analysis in plain sentences, which follow from the numbers alone."""

from collections.abc import Sequence
from math import inf, sqrt

from lengthlab.runs.columns import Row


def first_words(summary: Row) -> str:
    """What the first mistake is most often, and what chance would give."""
    most = max(summary["first"], key=lambda row: row["share"])
    return (
        f"Every wrong answer is counted once, by the first token that is wrong. Most often it is: {most['name']} "
        f"({most['share']:.0%}). A wrong digit can match such a description by chance: the last column is what the "
        "shares would be if every wrong first digit were drawn at random."
    )


def carry_words(rows: Sequence[Row], several: bool) -> str:
    """Whether wrong digits have an incoming carry more or less often than the digits at the same places."""
    wrong, _, same = rows
    said = f"{wrong['share']:.0%} of the wrong digits have a carry coming in, of all digits at the same places "
    said += f"{same['share']:.0%}"
    low, high = bounds(wrong, several)
    if low > same["share"]:
        return f"{said}: carries make mistakes more likely{_certainty(several)}."
    if high < same["share"]:
        return f"{said}: digits with a carry are wrong less often{_certainty(several)}."
    return f"{said}: no clear difference between digits with and without a carry."


def fifths_words(rows: Sequence[Row], several: bool) -> str:
    """Which parts of the answer have more than their share of wrong digits."""
    dense = [row for row in rows if bounds(row, several)[0] > row["base"]]
    if not dense:
        return "No part of the answer stands out clearly."
    names = ", ".join(
        f"{row['name']} ({row['share']:.0%} of the wrong digits, {row['base']:.0%} of all)" for row in dense
    )
    return f"Parts of the answer with more than their share of wrong digits: {names}{_certainty(several)}."


def counts_words(rows: Sequence[Row], fit: Row) -> str:
    """How many answers have exactly one wrong digit, and how well the exponential law fits."""
    one = rows[0]["share"]
    if fit["ratio"] == 0:
        return "Every answer with wrong digits has exactly one."
    quality = "well" if fit["misfit"] < 0.1 else "roughly" if fit["misfit"] < 0.25 else "badly"
    return (
        f"{one:.0%} of the answers with wrong digits have exactly one; {fit['mean']:.2f} on average. An exponential "
        f"law, in which each further wrong digit is {fit['ratio']:.2f} times as likely, fits {quality}: "
        f"{fit['misfit']:.0%} of the answers would have to move (a geometric distribution, by maximum likelihood)."
    )


def shifts_words(rows: Sequence[Row], halves: Sequence[Row], several: bool, order: str) -> str:
    """Which other places explain more than chance."""
    what = "A wrong digit may be what the operands of another place give, with or without a carry"
    side = "left" if order == "standard" else "right"
    way = f"higher: the next one to the {side} as the answer is written"
    above = [row["name"] for row in rows if bounds(row, several)[0] > row["base"]]
    above += [f"one operand {row['name']}" for row in halves if bounds(row, several)[0] > row["base"]]
    if not above:
        return f"{what} ({way}). None clearly explains more than chance, the last column."
    names = ["its own with a wrong carry" if name == "0" else name for name in above]
    return f"{what} ({way}). More often than by chance, the last column{_certainty(several)}: {', '.join(names)}."


def alignment_words(rows: Sequence[Row], trained: int) -> str:
    """How the score changes beyond the training range, and whether it is lower where digits are wrong."""
    inside = [row for row in rows if row["digits"] <= trained]
    beyond = [row for row in rows if row["digits"] > trained]
    if not inside or not beyond:
        return f"It is {rows[-1]['score']:.0%} at {rows[-1]['digits']} digits."
    start = sum(row["score"] for row in inside) / len(inside)
    last = beyond[-1]
    said = f"It is {start:.0%} on training lengths and {last['score']:.0%} at {last['digits']} digits"
    said += _instead(rows, start, last)
    both = [row for row in beyond if row["score_of_right"] is not None and row["score_of_wrong"] is not None]
    if both:
        row = min(both, key=lambda row: abs(row["exact_match"] - 0.5))
        said += (
            f" At {row['digits']} digits it is {row['score_of_right']:.0%} where the digit comes out right and "
            f"{row['score_of_wrong']:.0%} where it comes out wrong ({row['wrong_digits']} digits)."
        )
    return said


def _instead(rows: Sequence[Row], start: float, last: Row) -> str:
    """Where attention that was lost has gone."""
    if start - last["score"] < 0.05:
        return ": these heads find the right place at every length here."
    middle = len(last["profile"]) // 2
    gone = {
        "the three places on either side": sum(last["profile"]) - last["profile"][middle],
        "places farther off in the operands": last["farther"],
        "the answer so far and symbols": last["elsewhere"],
    }
    where = max(gone, key=lambda name: gone[name])
    return f"; what is lost goes mostly to {where} ({gone[where]:.0%})."


def bounds(row: Row, several: bool) -> tuple[float, float]:
    """Between which shares the truth lies with 95% confidence: Wilson's interval, or Student's over several runs."""
    if not several:
        return row["low"], row["high"]
    if row["runs"] < 2:
        return -inf, inf
    from scipy.stats import t as student  # takes a second to import

    reach = float(student.ppf(0.975, row["runs"] - 1)) * row["deviation"] / sqrt(row["runs"])
    return row["share"] - reach, row["share"] + reach


def _certainty(several: bool) -> str:
    return " (by a 95% interval over the runs)" if several else ""
