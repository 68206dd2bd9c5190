"""The table of what seeds can decide."""

import pytest

from lengthlab.paper import decide as module
from lengthlab.statistics.difference import LEAST_PAIRS


def test_more_seeds_and_more_correlation_find_smaller_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DRAWN", 40)
    rows = {(row.seeds, row.correlation): row for row in module.power()}
    assert rows[4, 0.0].difference > rows[5, 0.0].difference > rows[10, 0.0].difference
    for seeds in (6, 8, 10):
        assert rows[seeds, 0.0].difference > rows[seeds, 0.5].difference > rows[seeds, 0.8].difference
    assert all(row.paired == (row.seeds >= LEAST_PAIRS) for row in rows.values())
    # The noncentral t distribution: ten pairs find one standard deviation of their differences in four cases of five.
    assert rows[10, 0.5].difference == pytest.approx(1.0, abs=0.25)
