"""Kernels in several threads; ctypes lets them run side by side."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import pairwise

import torch

_taken = 0  # threads that the kernels have taken over from torch


@contextmanager
def kernels_take_threads(enabled: bool = True) -> Iterator[None]:
    """Within, the kernels have all of torch's threads and torch has one.

    Where torch has several, they wait for work in busy loops, on the cores that the kernels' threads need: training
    with two threads took longer than with one.
    """
    global _taken
    had = torch.get_num_threads()
    if not enabled or had == 1:
        yield
        return
    _taken = had
    torch.set_num_threads(1)
    try:
        yield
    finally:
        _taken = 0
        torch.set_num_threads(had)


def parts(count: int, at_once: int = 1) -> list[tuple[int, int]]:
    """A range for each thread, in whole multiples of `at_once`: (first, end).

    >>> torch.set_num_threads(1)
    >>> parts(100, 48)
    [(0, 100)]
    """
    blocks = -(-count // at_once)
    threads = max(1, min(_taken or torch.get_num_threads(), blocks))
    bounds = [min(count, blocks * thread // threads * at_once) for thread in range(threads + 1)]
    return list(pairwise(bounds))


def side_by_side(calls: Sequence[Callable[[], object]]) -> None:
    """Make all calls, the first of them in this thread; whatever happens, none is left running in memory given back."""
    others = [_pool(len(calls) - 1).submit(call) for call in calls[1:]]
    try:
        calls[0]()
    finally:
        wait(others)
    for other in others:
        other.result()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="kernel")


os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of its parent's threads
