"""Numbers as sentences print them."""

from collections.abc import Sequence
from statistics import median


def percent(share: float) -> str:
    """A share as whole percent, with a decimal where rounding would make it 0% or 100% and it is neither.

    >>> percent(0.876), percent(0.996), percent(0.9999), percent(1.0), percent(0.0004)
    ('88%', '99.6%', '>99.9%', '100%', '<0.1%')
    """
    if 0.005 <= share < 0.995 or share in (0, 1):
        return f"{share:.0%}"
    if share >= 0.9995:
        return ">99.9%"
    return "<0.1%" if share < 0.0005 else f"{share:.1%}"


def median_text(shares: Sequence[float]) -> str:
    """The median, and the lowest and the highest where there are several.

    >>> median_text([0.2, 0.9, 1.0]), median_text([0.5]), median_text([])
    ('90% (20% to 100%)', '50%', '')
    """
    if len(shares) < 2:
        return "".join(map(percent, shares))
    return f"{percent(median(shares))} ({percent(min(shares))} to {percent(max(shares))})"


def p_text(p: float) -> str:
    """
    >>> p_text(0.00793), p_text(0.0002)
    ('p = 0.0079', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
