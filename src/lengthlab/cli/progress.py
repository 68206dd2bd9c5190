"""What a person sees while runs train: a live display on a terminal, plain lines elsewhere.

On a terminal a run has one line with its name, bar, step and time left, and where there is room a second one:

    zhou2024-mini, seed 1  ━━━━━━━━━━━━━━────────  1240/2000  about 3 min left
      loss 0.212  next token 93.1%  10 digits ▁▃▆█ 98%  15 digits ▁▁▂▄ 43%  5 min so far
"""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Self

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from lengthlab.cli.console import Screen, duration, plural, visible
from lengthlab.sweep.progress import TrialProgress

STYLES = {"waiting": "dim", "training": "", "testing": "", "finished": "green", "failed": "bold red"}
FIRST_SHOWN = ("failed", "training", "testing", "waiting", "finished")  # when there are more trials than lines
LINES_AROUND = 4  # what else stands on the screen, and one for the cursor
FEW = 4  # trials whose metrics are worth lines of their own in a log


def make_view(console: Screen) -> "LiveView | LineView":
    """The view that suits where `console` writes to."""
    return LiveView(console) if console.is_terminal else LineView(console)


class LineView:
    """A line when a trial starts, ends, or is to be tried again; of a few trials also how they do, now and then."""

    def __init__(self, console: Screen) -> None:
        self.console = console
        self.told: dict[str, tuple[str, str]] = {}
        self.shown: dict[str, int] = {}  # the step of the last line about the loss
        self.over = 0
        self.started = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def say(self, label: str, text: str) -> None:
        self.console.put(f"{label}: {text}")

    def show(self, trials: Sequence[TrialProgress]) -> None:
        first = not self.told
        for one in trials:
            news = (one.state, one.error)
            event = _event(one) if self.told.get(one.trial.id) != news and not first else ""
            self.told[one.trial.id] = news
            if event and one.state == "training":
                self.say(one.label, event)
            if len(trials) <= FEW:
                self._metrics(one)
            if event and one.state != "training":
                self.say(one.label, event)
        over = sum(one.is_over for one in trials)
        if over != self.over and len(trials) > 1:
            self.over = over
            self.console.put(total_line(trials, time.monotonic() - self.started))

    def _metrics(self, one: TrialProgress) -> None:
        """A line for each evaluation, and one for about each twentieth of the run."""
        for line in one.news:
            step = line["step"]
            if "exact_match" in line:
                scores = ", ".join(f"{digits} digits {score:.0%}" for digits, score in line["exact_match"].items())
                self.say(one.label, f"step {step}/{one.steps}  exact match at {scores}")
            elif step - self.shown.get(one.trial.id, 0) >= one.steps / 20 or step == one.steps:
                self.shown[one.trial.id] = step
                length = [f"1-{line['longest']} digits"] if "longest" in line else []
                text = f"loss {line['loss']:.4f}  next-token accuracy {line['accuracy']:.1%}"
                self.say(one.label, "  ".join([f"step {step}/{one.steps}", *length, text, *_speed(one)]))


def _event(one: TrialProgress) -> str:
    """What happened to a trial, in words; empty if it is not worth a line."""
    if one.state == "training":
        before = one.first_step
        return f"resuming after step {before} of {one.steps}" if before else f"training, {one.steps} steps"
    if one.state == "waiting":
        return f"{one.error}; will be tried again" if one.error else ""
    if one.state == "finished":
        return "finished" + (f" in {duration(one.seconds)}" if one.seconds else "")
    if one.state == "failed":
        return f"failed ({plural(one.attempts, 'attempt')}): {one.error}"
    return ""


class LiveView:
    """All trials, or as many as fit, kept up to date in place."""

    def __init__(self, console: Screen) -> None:
        self.console = console
        self.started = time.monotonic()
        self.trials: Sequence[TrialProgress] = ()
        self.live = Live(console=console, get_renderable=self._picture, refresh_per_second=2)

    def __enter__(self) -> Self:
        self.live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.live.stop()
        for one in self.trials:
            if one.state == "failed":
                self.say(one.label, _event(one))

    def say(self, label: str, text: str) -> None:
        self.console.put(f"{label}: {text}")

    def show(self, trials: Sequence[TrialProgress]) -> None:
        self.trials = trials

    def _picture(self) -> Group:
        return picture(self.trials, self.console.width, self.console.height, time.monotonic() - self.started)


def picture(trials: Sequence[TrialProgress], width: int, height: int, elapsed: float) -> Group:
    """Two lines for each trial if all of them fit into `height` lines, or else one; the rest is counted under them."""
    lines = max(1, height - LINES_AROUND)
    detailed = 2 * len(trials) <= lines
    shown = list(trials) if detailed else _fitting(trials, lines)
    parts: list[Table | Text] = []
    if shown:
        count = max(len(f"{one.steps}/{one.steps}") for one in shown)
        name = max(8, min(max(len(visible(one.label)) for one in shown), width - count - 36))
        for one in shown:
            parts.append(_line(one, name, max(8, min(24, width - name - count - 28)), count))
            parts += [_details(one, width)] if detailed else []
    hidden = Counter(one.state for one in trials if one not in shown)
    if hidden:
        parts.append(Text("... and " + ", ".join(f"{count} {state}" for state, count in hidden.items()), style="dim"))
    if len(trials) > 1:
        parts.append(Text(total_line(trials, elapsed), style="bold", no_wrap=True, overflow="ellipsis"))
    return Group(*parts)


def _line(one: TrialProgress, name: int, bar: int, count: int) -> Table:
    """Name, bar, step and time left (or what became of it), in columns of these widths."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=name, no_wrap=True, overflow="ellipsis")
    grid.add_column(width=bar)
    grid.add_column(width=count, justify="right", no_wrap=True)
    grid.add_column(no_wrap=True, overflow="ellipsis")
    left = one.seconds_left
    ending = f"about {duration(left)} left" if one.state == "training" and left is not None else one.state
    if one.state == "finished" and one.seconds:
        ending = f"finished in {duration(one.seconds)}"
    if one.attempts > 1:
        ending += f" ({plural(one.attempts, 'attempt')})"
    done = one.steps if one.state == "finished" else one.step
    drawn = ProgressBar(total=one.steps, completed=done)
    grid.add_row(Text(visible(one.label)), drawn, f"{done}/{one.steps}", ending, style=STYLES[one.state])
    return grid


def _details(one: TrialProgress, width: int) -> Text:
    """As much of the rest as a line has room for, the speed last."""
    parts = [] if one.longest in (None, one.trial.config.training.digits) else [f"1-{one.longest} digits"]
    parts += [] if one.loss is None else [f"loss {one.loss:.3f}"]
    parts += [] if one.accuracy is None else [f"next token {one.accuracy:.1%}"]
    parts += [
        f"{digits} digits {sparkline(course)} {course[-1]:.0%}" for digits, course in list(one.exact_match.items())
    ]
    if one.seconds is not None and not one.is_over:
        parts.append(f"{duration(one.seconds)} so far")
    if not one.is_over:
        parts += _speed(one)
    line = f"  {visible(one.error)}" if one.error else ""
    for part in parts if not one.error else ():
        if len(line) + 2 + len(part) > width:
            break
        line += f"  {part}"
    return Text(line, style="red" if one.error else "dim", no_wrap=True, overflow="ellipsis")


def _speed(one: TrialProgress) -> list[str]:
    """Tokens a second, if they are known."""
    return [f"{one.speed:,.0f} tokens/s"] if one.speed else []


def _fitting(trials: Sequence[TrialProgress], lines: int) -> list[TrialProgress]:
    """As many trials as there are lines, those first that a person wants to see, in their own order."""
    if len(trials) <= lines:
        return list(trials)
    ranked = sorted(range(len(trials)), key=lambda index: FIRST_SHOWN.index(trials[index].state))
    return [trials[index] for index in sorted(ranked[:lines])]


def total_line(trials: Sequence[TrialProgress], elapsed: float) -> str:
    """How many trials are where, and how long the rest may take if steps stay as quick as they were."""
    counts = Counter("running" if one.state in ("training", "testing") else one.state for one in trials)
    others = [f"{counts[state]} {state}" for state in ("running", "waiting", "failed") if counts[state]]
    text = ", ".join([f"{counts['finished']} of {len(trials)} finished", *others]) + f"; {duration(elapsed)}"
    left = _time_left([one for one in trials if not one.is_over], trials, elapsed)
    return text + (f", about {duration(left)} left" if left else "")


def _time_left(under_way: Sequence[TrialProgress], trials: Sequence[TrialProgress], elapsed: float) -> float | None:
    """That of the slowest trial if all are under way; where some wait, all steps at the pace of those done so far."""
    own = [one.seconds_left for one in under_way if one.state != "waiting"]
    if own and len(own) == len(under_way):
        return None if None in own else max(seconds for seconds in own if seconds is not None)
    done = sum(max(0, one.step - one.first_step) for one in trials)
    return elapsed * sum(max(0, one.steps - one.step) for one in under_way) / done if done else None


def sparkline(shares: Sequence[float], width: int = 8) -> str:
    """The last `width` of some shares as a little curve.

    >>> sparkline([0, 0.5, 1])
    '▁▅█'
    """
    return "".join("▁▂▃▄▅▆▇█"[round(share * 7 + 1e-9)] for share in shares[-width:])
