"""Run trials."""

from collections.abc import Sequence

from rich.console import Console

from lengthlab.sweep.trial import Outcome, SweepOptions, Trial


def run_trials(trials: Sequence[Trial], options: SweepOptions, console: Console) -> list[Outcome]:
    """Train and test all trials that are not finished yet; returns how each of them ended, in their order."""
    raise NotImplementedError
