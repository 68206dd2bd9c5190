"""How the learning rate and the longest training length change with the step."""

import math

from lengthlab.config import ScheduleOptions, TrainingOptions


def rate_factor(step: int, steps: int, schedule: ScheduleOptions) -> float:
    """The rate of a step (0, 1, ...) as a share of the peak: linear warm-up, then cosine decay to `final`."""
    if step < schedule.warmup:
        return (step + 1) / schedule.warmup
    progress = (step - schedule.warmup) / max(1, steps - 1 - schedule.warmup)
    return schedule.final + (1 - schedule.final) * 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))


def longest_digits(step: int, training: TrainingOptions) -> int:
    """The longest length drawn at a step: grows evenly from 2 to `digits` over the first `growth` of the steps."""
    growing = training.growth * training.steps
    if step >= growing:
        return training.digits
    shortest = min(2, training.digits)
    return shortest + int((training.digits - shortest + 1) * step / growing)
