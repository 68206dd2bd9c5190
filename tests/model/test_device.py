"""Freed memory is kept."""

import resource
import sys

import pytest
import torch

from lengthlab.model.build import keep_freed_memory

MIB = 2**20 // 4  # numbers in fp32


def faults(mebibytes: int) -> int:
    """Page faults while a block is asked for, written and freed."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(mebibytes * MIB)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have another malloc")
def test_what_was_freed_is_written_again_without_page_faults() -> None:
    assert keep_freed_memory()
    fresh = 16 * 2**20 // resource.getpagesize()
    faults(64)
    assert sum(faults(16) for _ in range(3)) < fresh / 4
