"""Kernels in several threads."""

import threading
import time
from collections.abc import Iterator

import pytest
import torch

from lengthlab.model.kernels.threads import kernels_take_threads, parts, side_by_side


@pytest.fixture
def three_threads() -> Iterator[None]:
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(1)


def test_parts_are_whole_and_leave_nothing_out(three_threads: None) -> None:
    assert parts(100, 48) == [(0, 48), (48, 96), (96, 100)]
    assert parts(1000, 48) == [(0, 336), (336, 672), (672, 1000)]
    assert parts(10, 48) == [(0, 10)] and parts(2) == [(0, 1), (1, 2)]


def test_kernels_take_the_threads_and_give_them_back(three_threads: None) -> None:
    with pytest.raises(KeyError), kernels_take_threads():
        assert torch.get_num_threads() == 1 and len(parts(3)) == 3
        with kernels_take_threads():  # testing during training
            assert torch.get_num_threads() == 1 and len(parts(3)) == 3
        raise KeyError
    assert torch.get_num_threads() == 3
    with kernels_take_threads(enabled=False):
        assert torch.get_num_threads() == 3


def test_calls_run_side_by_side_and_their_errors_come_out() -> None:
    both = threading.Barrier(2, timeout=60)  # passed only by two at a time
    side_by_side([both.wait, both.wait])
    with pytest.raises(ZeroDivisionError):
        side_by_side([lambda: None, lambda: 1 / 0])
    ended = threading.Event()
    with pytest.raises(ZeroDivisionError):
        side_by_side([lambda: 1 / 0, lambda: (time.sleep(0.1), ended.set())])
    assert ended.is_set()
