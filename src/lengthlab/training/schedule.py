"""How the learning rate and the longest training length change with the step."""

import math

from lengthlab.config import ScheduleOptions, TrainingOptions


def rate_factor(step: int, steps: int, schedule: ScheduleOptions) -> float:
    """The rate of a step (0, 1, ...) as a share of the peak: linear warm-up, then as `kind` says.

    cosine: down to `final` at the last step. constant: at the peak to the end. stable-decay: at the peak, then linearly
    down to `final` over the last `decay` of the steps.
    """
    if step < schedule.warmup:
        return (step + 1) / schedule.warmup
    if schedule.kind == "constant":
        return 1.0
    if schedule.kind == "stable-decay":
        left = (steps - 1 - step) / max(1.0, schedule.decay * steps)
        return schedule.final + (1 - schedule.final) * min(1.0, left)
    progress = (step - schedule.warmup) / max(1, steps - 1 - schedule.warmup)
    return schedule.final + (1 - schedule.final) * 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))


def longest_digits(step: int, training: TrainingOptions) -> int:
    """The longest length drawn at a step: grows evenly from 2 to `digits` over the first `growth` of the steps."""
    growing = training.growth * training.steps
    if step >= growing:
        return training.digits
    shortest = min(2, training.digits)
    return shortest + int((training.digits - shortest + 1) * step / growing)
