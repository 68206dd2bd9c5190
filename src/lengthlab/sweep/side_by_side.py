"""A view of a few trials: for each of them what `lengthlab train` shows of one run, bar and curves or lines."""

from collections.abc import Sequence
from typing import Self

from rich.console import Console

from lengthlab.display import make_display
from lengthlab.sweep.progress import Progress


class SideBySide:
    """Passes every new line of metrics to the display of single runs."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.display = make_display(console)
        self.errors: dict[str, str] = {}  # the last of every trial on display

    def __enter__(self) -> Self:
        self.display.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self.display.__exit__(*exception)

    def say(self, text: str) -> None:
        self.console.print(text, highlight=False, soft_wrap=True, markup=False)

    def show(self, trials: Sequence[Progress]) -> None:
        for one in trials:
            label = one.trial.label
            if label not in self.errors and (one.attempts or one.news):
                self.errors[label] = ""
                self.display.add(label, one.steps)
            speed = one.run.speed if one.news else {}
            for line in one.news:
                self.display.metrics(label, line | {"tokens_per_second": speed.get(line["step"], 0.0)})
                if one.attempts and "loss" in line and line["step"] == one.steps:
                    self.display.note(label, "trained; testing")
            if one.error and not self.errors[label]:
                self.display.note(label, one.error if one.is_over else f"{one.error}; will be tried again")
            if label in self.errors:
                self.errors[label] = one.error
