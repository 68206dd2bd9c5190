"""What is shown of runs under way, at every width of a terminal."""

import io
from collections.abc import Callable, Sequence

import pytest

from lengthlab.cli.console import Screen
from lengthlab.cli.progress import LineView, picture, total_line
from lengthlab.config.schema import Config
from lengthlab.sweep.progress import TrialProgress, TrialState
from lengthlab.sweep.trial import Trial

Smoke = Callable[..., Config]


def trials_in(states: Sequence[TrialState], smoke: Smoke, label: str = "trial") -> list[TrialProgress]:
    progress = [TrialProgress(Trial(f"{label} {index}", smoke(f"seed={index}"))) for index in range(len(states))]
    for one, state in zip(progress, states, strict=True):
        one.state = state
        one.step = {"waiting": 0, "training": 5, "testing": 20, "finished": 20, "failed": 1}[state]
        one.error = "the loss became nan" if state == "failed" else ""
    return progress


def drawn(trials: Sequence[TrialProgress], width: int, height: int = 20) -> list[str]:
    file = io.StringIO()
    screen = Screen(file=file, force_terminal=True, width=width, height=height, color_system=None)
    screen.print(picture(trials, width, height, elapsed=90))
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_a_run_has_two_lines_with_name_bar_step_and_time_left(width: int, smoke: Smoke) -> None:
    (one,) = trials_in(["training"], smoke, "coupling-relative-mini, seed")
    one.started, one.ended = 100.0, 400.0
    one.loss, one.accuracy, one.speed = 1.25, 0.5, 12_345.0
    one.exact_match = {str(digits): [0.0, 0.5, 1.0] for digits in (10, 15, 20)}
    first, second = drawn([one], width)
    assert max(len(first.rstrip()), len(second.rstrip())) <= width
    assert "5/20" in first and "━" in first and "about 15 min left" in first
    assert first.startswith("coupling-relative-mini, seed 0" if width > 60 else "coupling-")
    assert second.startswith("  loss 1.250  next token 50.0%")
    assert ("12,345 tokens/s" in second) == (width == 140)  # this goes first
    assert ("20 digits ▁▅█ 100%" in second) == (width >= 100)


def test_a_long_name_is_cut_and_the_rest_stays(smoke: Smoke) -> None:
    (one,) = trials_in(["training"], smoke, "a name that is " + "very " * 30 + "long")
    one.started, one.ended = 100.0, 400.0
    first, _ = drawn([one], 80)
    assert len(first.rstrip()) <= 80 and "…" in first and "5/20  about 15 min left" in first and "━" in first


def test_many_trials_have_a_line_each_and_those_come_first_that_a_person_wants_to_see(smoke: Smoke) -> None:
    done: list[TrialState] = ["finished"] * 20
    to_do: list[TrialState] = ["waiting"] * 20
    progress = trials_in([*done, "failed", "training", "testing", *to_do], smoke)
    lines = drawn(progress, width=80, height=12)
    assert len(lines) <= 11 and max(len(line.rstrip()) for line in lines) <= 80
    rows = [line for line in lines if line.startswith("trial ")]
    assert [row.split()[1] for row in rows] == ["20", "21", "22", "23", "24", "25", "26", "27"]
    assert "failed" in rows[0] and "5/20" in rows[1] and "training" in rows[1] and "testing" in rows[2]
    assert lines[-2].strip() == "... and 20 finished, 15 waiting"
    assert lines[-1].startswith("20 of 43 finished, 2 running, 20 waiting, 1 failed; 90 s")


def test_the_reason_of_a_failure_is_shown(smoke: Smoke) -> None:
    progress = trials_in(["failed", "training"], smoke)
    progress[0].error = "the loss became nan at step 7; " + "try a lower training.optimizer.rate " * 5
    lines = drawn(progress, width=80)
    assert lines[1].startswith("  the loss became nan at step 7") and len(lines) == 5
    assert max(len(line.rstrip()) for line in lines) <= 80


def test_the_time_left_follows_from_the_steps_done_in_this_sweep(smoke: Smoke) -> None:
    progress = trials_in(["finished", "training", "waiting", "failed"], smoke)
    progress[0].first_step = 20  # done before
    progress[3].first_step = 1
    assert total_line(progress, elapsed=10).endswith("; 10 s, about 70 s left")  # 5 steps in 10 s, 15 + 20 to go
    assert total_line(progress[:1], elapsed=10) == "1 of 1 finished; 10 s"
    side_by_side = trials_in(["training", "training"], smoke)
    for one, seconds in zip(side_by_side, (10.0, 20.0), strict=True):
        one.started, one.ended = 100.0, 100.0 + seconds
    assert total_line(side_by_side, elapsed=25).endswith("; 25 s, about 60 s left")  # of the slower one


def test_a_log_has_lines_of_metrics_for_few_trials_only(smoke: Smoke) -> None:
    for count in (1, 5):
        file = io.StringIO()
        view = LineView(Screen(file=file, width=80))
        progress = trials_in(["waiting"] * count, smoke)
        view.show(progress)
        progress[0].state = "training"
        progress[0].news = [{"step": 5, "loss": 2.5, "accuracy": 0.25}, {"step": 5, "exact_match": {"2": 0.5}}]
        view.show(progress)
        lines = file.getvalue().splitlines()
        assert lines[0] == "trial 0: training, 20 steps"
        metrics = [
            "trial 0: step 5/20  loss 2.5000  next-token accuracy 25.0%",
            "trial 0: step 5/20  exact match at 2 digits 50%",
        ]
        assert lines[1:] == (metrics if count == 1 else [])
