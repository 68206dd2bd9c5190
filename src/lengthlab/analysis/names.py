"""What mistakes are called, in tables, on the page and in figures.

Rows of the error analysis have one number each, for one length or (0 digits) for all beyond training; a measure
`X base` has what X should be compared with:

    measure   key                                                          value: share of
    first     the KINDS of verdicts.py                                     wrong answers that go wrong so first
    carry     WRONG_DIGITS, SAME_PLACES                                    digits into which a carry comes
    fifths    FIFTHS, and its base                                         wrong digits
    counts    1, 2, 3 ...                                                  wrong answers with so many wrong digits
    places    0, 1, 2 ... from the units                                  answers whose digit is wrong there
    sums      SUMS                                                         right answers to such sums
    shifts    -3 ... 0 ... +3, and its base                                wrong digits that this place would give
    marks     MARKS                                                        wrong answers
"""

ALL_LENGTHS = 0  # as the length of a row: all lengths beyond training together
MEASURES = ("first", "marks", "carry", "fifths", "counts", "shifts")
FIFTHS = ("lowest fifth", "second fifth", "middle fifth", "fourth fifth", "highest fifth")
MARKS = ("ends too early", "does not end", "wrong hint", "wrong digit")
WRONG_DIGITS, SAME_PLACES = "wrong digits", "all digits at the same places"
TESTS = {  # as rows of examples name a test set, and as people do
    "uniform": "uniform sums",
    "carry chain": "a carry through all places",
    "equal": "a number and itself",
    "sparse": "zeros but for one digit",
}
SUMS = tuple(TESTS[test] for test in ("uniform", "carry chain", "equal"))  # of the error analysis
SHIFTS = (-3, -2, -1, 0, 1, 2, 3)  # places looked at instead of the right one; 0 with another carry


def shift_name(shift: int) -> str:
    """
    >>> [shift_name(shift) for shift in (-1, 0, 2)]
    ['-1', '0', '+2']
    """
    return f"{shift:+d}" if shift else "0"
