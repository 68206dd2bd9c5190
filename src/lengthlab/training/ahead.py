"""The next step's examples, drawn while the GPU is busy with this one's."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")


class Ahead(Generic[T]):
    """`ahead[step]` is `draw(step)`, which in the meantime draws step + 1 on another thread, if that is enabled."""

    def __init__(self, draw: Callable[[int], T], enabled: bool) -> None:
        self.draw = draw
        self.executor = ThreadPoolExecutor(1, thread_name_prefix="draw ahead") if enabled else None
        self.waiting: dict[int, Future[T]] = {}

    def __getitem__(self, step: int) -> T:
        if self.executor is None:
            return self.draw(step)
        found = self.waiting.pop(step, None)
        self.waiting = {step + 1: self.executor.submit(self.draw, step + 1)}
        return found.result() if found is not None else self.draw(step)
