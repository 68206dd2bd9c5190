"""Stopping between two steps, where weights and optimizer belong together."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Whether somebody has asked to stop."""

    def __init__(self) -> None:
        self.made = False

    def heed(self) -> None:
        """Raise KeyboardInterrupt if somebody has."""
        if self.made:
            raise KeyboardInterrupt

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.made:  # asked twice: stop at once
            raise KeyboardInterrupt
        self.made = True


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Within, Ctrl-C and SIGTERM only set `made`; a second one raises KeyboardInterrupt. In the main thread only."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    old = {number: signal.signal(number, request) for number in SIGNALS}
    try:
        yield request
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
