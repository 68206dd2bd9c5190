"""What a person sees while runs train: a live display on a terminal, plain lines elsewhere."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn


class Display(Protocol):
    """Hears of every line of metrics of every run on show."""

    def __enter__(self) -> "Display": ...
    def __exit__(self, *exception: object) -> None: ...
    def add(self, label: str, steps: int) -> None: ...
    def metrics(self, label: str, line: dict[str, Any]) -> None: ...
    def note(self, label: str, text: str) -> None: ...


def make_display(console: Console) -> Display:
    """The display that suits where `console` writes to."""
    return (
        LiveDisplay(console)
        if console.is_terminal
        else PlainDisplay(lambda text: console.print(text, highlight=False, soft_wrap=True, markup=False))
    )


def exact_match_text(scores: dict[str, float]) -> str:
    """{"10": 0.98, "15": 0.5} as "10 digits 98%, 15 digits 50%"."""
    return ", ".join(f"{digits} digits {score:.0%}" for digits, score in scores.items())


def share_text(line: dict[str, Any]) -> str:
    """How much of the machine's own matrix speed a step used, if that is known."""
    return f" ({line['share_of_peak']:.0%} of peak)" if "share_of_peak" in line else ""


class PlainDisplay:
    """A line for each evaluation, and one for about each twentieth of the run."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self.write = write
        self.steps: dict[str, int] = {}
        self.shown: dict[str, int] = {}

    def __enter__(self) -> "PlainDisplay":
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def add(self, label: str, steps: int) -> None:
        self.steps[label] = steps
        self.shown[label] = 0

    def metrics(self, label: str, line: dict[str, Any]) -> None:
        step, steps = line["step"], self.steps[label]
        if "exact_match" in line:
            self.write(f"{label}: step {step}/{steps}  exact match at {exact_match_text(line['exact_match'])}")
        elif step - self.shown[label] >= steps / 20 or step == steps:
            self.shown[label] = step
            self.write(
                f"{label}: step {step}/{steps}  loss {line['loss']:.4f}  next-token accuracy {line['accuracy']:.1%}  "
                f"{line['tokens_per_second']:,.0f} tokens/s{share_text(line)}"
            )

    def note(self, label: str, text: str) -> None:
        self.write(f"{label}: {text}")


class LiveDisplay:
    """A progress bar for each run, with the course of exact match at each length that is evaluated on the way."""

    def __init__(self, console: Console) -> None:
        self.progress = Progress(
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(bar_width=16),
            TextColumn("{task.completed}/{task.total}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[state]}"),
            console=console,
            speed_estimate_period=600,  # seconds; of large models a line may come once in minutes
        )
        self.tasks: dict[str, TaskID] = {}
        self.latest: dict[str, str] = {}
        self.scores: dict[str, dict[str, list[float]]] = {}

    def __enter__(self) -> "LiveDisplay":
        self.progress.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self.progress.stop()

    def add(self, label: str, steps: int) -> None:
        self.tasks[label] = self.progress.add_task(label, total=steps, state="starting")

    def metrics(self, label: str, line: dict[str, Any]) -> None:
        if "exact_match" in line:
            course = self.scores.setdefault(label, {})
            for digits, score in line["exact_match"].items():
                course.setdefault(digits, []).append(score)
        else:
            speed = f"{line['tokens_per_second'] / 1000:.1f}k tokens/s{share_text(line)}"
            self.latest[label] = f"loss {line['loss']:.3f}  next token {line['accuracy']:.1%}  {speed}"
        exact = [
            f"{digits} digits {sparkline(course)} {course[-1]:.0%}"
            for digits, course in self.scores.get(label, {}).items()
        ]
        state = "  ".join(part for part in (self.latest.get(label, ""), *exact) if part)
        self.progress.update(self.tasks[label], completed=line["step"], state=state)

    def note(self, label: str, text: str) -> None:
        self.progress.console.print(f"{label}: {text}", highlight=False, markup=False)


def sparkline(shares: Sequence[float], width: int = 10) -> str:
    """The last `width` of some shares as a little curve.

    >>> sparkline([0, 0.5, 1])
    '▁▅█'
    """
    return "".join("▁▂▃▄▅▆▇█"[round(share * 7 + 1e-9)] for share in shares[-width:])
