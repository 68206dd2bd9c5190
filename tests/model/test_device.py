"""Freed memory is kept."""

import sys
from typing import Any

import pytest

# In a process of its own: what malloc does with a block depends on what the tests before have left in the heap.
FAULTS = """
import resource
import torch
from lengthlab.model.build import keep_freed_memory

MIB = 2**20 // 4  # numbers in fp32

def faults(mebibytes):  # page faults while a block is asked for, written and freed
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(mebibytes * MIB)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

assert keep_freed_memory()
faults(64)
print(sum(faults(16) for _ in range(3)) * resource.getpagesize() // 2**20)
"""


@pytest.mark.xdist_group("forks")
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have another malloc")
def test_what_was_freed_is_written_again_without_page_faults(python: Any) -> None:
    child = python.run("-c", FAULTS)
    assert child.returncode == 0, child.stderr
    assert int(child.stdout) < 4  # MiB of 48; without it 47
