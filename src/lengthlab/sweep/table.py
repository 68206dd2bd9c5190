"""What a person sees of a sweep: a live table on a terminal, a line for each beginning and end elsewhere."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from lengthlab.sweep.progress import Progress

STYLES = {"waiting": "dim", "training": "", "testing": "", "finished": "green", "failed": "bold red"}
FIRST_SHOWN = ("failed", "training", "testing", "waiting", "finished")  # when there are more trials than lines
LINES_AROUND = 5  # the table's head and foot, and one for the cursor
WIDTH_FOR_BARS = 100


class View(Protocol):
    """Is shown all trials, again and again."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...
    def show(self, trials: Sequence[Progress]) -> None: ...
    def say(self, text: str) -> None: ...


def make_view(console: Console) -> View:
    """The view that suits where `console` writes to."""
    return TableView(console) if console.is_terminal else LineView(console)


class LineView:
    """One line when a trial starts, ends, or is to be tried again."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.told: dict[str, tuple[str, str]] = {}
        self.over = 0
        self.started = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def say(self, text: str) -> None:
        self.console.print(text, highlight=False, soft_wrap=True, markup=False)

    def show(self, trials: Sequence[Progress]) -> None:
        first = not self.told
        for one in trials:
            news = (one.state, one.error)
            if self.told.get(one.trial.id) != news:
                self.told[one.trial.id] = news
                if not first and (text := _event(one)):
                    self.say(f"{one.trial.label}: {text}")
        over = sum(one.is_over for one in trials)
        if over != self.over:
            self.over = over
            self.say(total_line(trials, time.monotonic() - self.started))


def _event(one: Progress) -> str:
    """What happened to a trial, in words; empty if it is not worth a line."""
    if one.state == "training":
        begun = one.run.starts
        before = begun[-1]["after_step"] if begun else 0
        return f"going on after step {before} of {one.steps}" if before else f"training, {one.steps} steps"
    if one.state == "waiting":
        return f"{one.error}; will be tried again" if one.error else ""
    if one.state == "finished":
        return "finished" + (f" in {duration(one.seconds)}" if one.seconds else "")
    if one.state == "failed":
        return f"failed ({_attempts(one)}): {one.error}"
    return ""


class TableView:
    """A live table of all trials, or of as many as fit."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.live = Live(console=console, auto_refresh=False, vertical_overflow="visible")
        self.started = time.monotonic()
        self.trials: Sequence[Progress] = ()

    def __enter__(self) -> Self:
        self.live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.live.stop()
        for one in self.trials:
            if one.state == "failed":
                self.say(f"{one.trial.label} failed ({_attempts(one)}): {one.error}")

    def say(self, text: str) -> None:
        self.console.print(text, highlight=False, soft_wrap=True, markup=False)

    def show(self, trials: Sequence[Progress]) -> None:
        self.trials = trials
        elapsed = time.monotonic() - self.started
        self.live.update(picture(trials, self.console.width, self.console.height, elapsed), refresh=True)


def picture(trials: Sequence[Progress], width: int, height: int, elapsed: float) -> Group:
    """The table, with what does not fit into `height` lines counted under it, and the total."""
    shown = _fitting(trials, max(1, height - LINES_AROUND))
    with_bars = width >= WIDTH_FOR_BARS
    table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    table.add_column("trial", no_wrap=True, overflow="ellipsis", ratio=3)
    table.add_column("state", no_wrap=True, min_width=12)
    if with_bars:
        table.add_column("", width=10)
    table.add_column("step", justify="right", no_wrap=True)
    table.add_column("loss", justify="right", no_wrap=True, min_width=5)
    table.add_column("exact match", no_wrap=True, overflow="ellipsis", ratio=4)
    table.add_column("time", justify="right", no_wrap=True, min_width=7)
    for one in shown:
        done = one.steps if one.state == "finished" else one.step
        bar = [ProgressBar(total=one.steps, completed=done, width=10)] if with_bars else []
        table.add_row(
            Text(one.trial.label),
            one.state + (f" ({one.attempts})" if one.attempts > 1 else ""),
            *bar,
            f"{one.step}/{one.steps}",
            "" if one.loss is None else f"{one.loss:.3f}",
            Text(one.error or "  ".join(f"{digits}: {score:.0%}" for digits, score in one.exact_match.items())),
            "" if one.seconds is None else duration(one.seconds),
            style=STYLES[one.state],
        )
    hidden = Counter(one.state for one in trials if one not in shown)
    rest = ", ".join(f"{count} {state}" for state, count in hidden.items())
    lines = [Text(f"... and {rest}", style="dim")] if rest else []
    return Group(table, *lines, Text(total_line(trials, elapsed), style="bold"))


def _fitting(trials: Sequence[Progress], lines: int) -> list[Progress]:
    """As many trials as there are lines, those first that a person wants to see, in their own order."""
    if len(trials) <= lines:
        return list(trials)
    ranked = sorted(range(len(trials)), key=lambda index: FIRST_SHOWN.index(trials[index].state))
    return [trials[index] for index in sorted(ranked[:lines])]


def total_line(trials: Sequence[Progress], elapsed: float) -> str:
    """How many trials are where, and how long the rest may take if steps go on as fast as so far."""
    counts = Counter("running" if one.state in ("training", "testing") else one.state for one in trials)
    text = f"{counts['finished']} of {len(trials)} finished, {counts['running']} running, {counts['waiting']} waiting"
    text += f", {counts['failed']} failed; {duration(elapsed)}"
    left = sum(max(0, one.steps - one.step) for one in trials if not one.is_over)
    done = sum(max(0, one.step - one.first_step) for one in trials)
    return text + (f", about {duration(elapsed * left / done)} left" if left and done else "")


def _attempts(one: Progress) -> str:
    return "1 attempt" if one.attempts == 1 else f"{one.attempts} attempts"


def duration(seconds: float) -> str:
    """
    >>> duration(59.7), duration(75), duration(7500)
    ('1:00', '1:15', '2:05:00')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
