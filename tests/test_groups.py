"""Tests that share something costly run in one worker."""

import pytest


@pytest.mark.xdist_group("analyse")
def test_a_test_s_id_ends_with_its_group(request: pytest.FixtureRequest) -> None:
    """Which is what pytest-xdist goes by; without it, it says nothing and shares nothing."""
    grouped = getattr(request.config.option, "loadgroup", False)
    assert request.node.nodeid.endswith("@analyse") == grouped
