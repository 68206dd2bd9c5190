"""What changes with the step: the learning rate, the longest training length, the range of sharpness and the loops.

The longest length grows with the step, or by mastery: then it waits until the present one is learned.

    longest 2, streak 3, accuracy 0.98:   97%  98%  99%  98%  ->  longest 3

Only steps with batches of nearly the longest length are judged; the others neither count nor break a streak. With a
deadline, a setting that cannot master a length still meets the longer ones, so that settings can be compared.
"""

import math
from dataclasses import dataclass

from lengthlab.config.axes import SCHEDULES
from lengthlab.config.training import ScheduleOptions, TrainingOptions
from lengthlab.seeding import generator


def rate_factor(step: int, steps: int, schedule: ScheduleOptions) -> float:
    """The rate of a step (0, 1, ...) as a share of the peak: linear warm-up, then as `kind` says (see SCHEDULES)."""
    if step < schedule.warmup:
        return (step + 1) / schedule.warmup
    return SCHEDULES[schedule.kind].load()(step, steps, schedule)


def constant(step: int, steps: int, schedule: ScheduleOptions) -> float:
    """At the peak to the end."""
    return 1.0


def stable_decay(step: int, steps: int, schedule: ScheduleOptions) -> float:
    """At the peak, then linearly down to `final` over the last `decay` of the steps."""
    left = (steps - 1 - step) / max(1.0, schedule.decay * steps)
    return schedule.final + (1 - schedule.final) * min(1.0, left)


def cosine(step: int, steps: int, schedule: ScheduleOptions) -> float:
    """Down to `final` at the last step."""
    progress = (step - schedule.warmup) / max(1, steps - 1 - schedule.warmup)
    return schedule.final + (1 - schedule.final) * 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))


EXPECTED_MASTERY = 0.4  # of the steps until the full length is mastered, for estimates; nobody knows beforehand


def longest_digits(step: int, training: TrainingOptions) -> int:
    """The longest length drawn at a step: grows evenly from 2 to `digits` over the first `growth` of the steps.

    With growth by mastery this is a guess, for estimates; `Mastery` knows.
    """
    by_mastery = training.mastery.accuracy > 0
    growing = (EXPECTED_MASTERY if by_mastery else training.growth) * training.steps
    if step >= growing:
        return training.digits
    shortest = min(training.mastery.start if by_mastery else 2, training.digits)
    return shortest + int((training.digits - shortest + 1) * step / growing)


def sharpness(step: int, training: TrainingOptions, seed: int) -> float:
    """What the attention logits of a step are multiplied by: log-uniform in a range that grows to 1..most."""
    options = training.sharpness
    if options.most == 1:
        return 1.0
    share = generator(seed, "sharpness", step).random()
    width = min(1.0, step / (options.growth * training.steps)) if options.growth else 1.0
    return math.exp(share * width * math.log(options.most))


def loops(step: int, training: TrainingOptions, most: int, seed: int) -> int:
    """How many times the layers are applied in a step: uniform in least_loops..most, or always `most`."""
    if not training.least_loops:
        return most
    return int(generator(seed, "loops", step).integers(training.least_loops, most, endpoint=True))


@dataclass
class Mastery:
    """How far a run has come; all that the next step's lengths depend on, besides the seeds."""

    longest: int
    streak: int = 0  # mastered steps in a row, up to now
    reached: int = -1  # the first step of the full length, once it is known

    @classmethod
    def at_start(cls, training: TrainingOptions) -> "Mastery":
        start = training.mastery.start
        return cls(min(start, training.digits), reached=0 if training.digits <= start else -1)

    def keep_pace(self, step: int, training: TrainingOptions) -> None:
        """Grow as the deadline demands, whatever is mastered."""
        least = self.least(step, training)
        if least > self.longest:
            self.longest, self.streak = least, 0
            if least == training.digits:
                self.reached = step

    @staticmethod
    def least(step: int, training: TrainingOptions) -> int:
        """The longest length that a step must have at least, by its deadline.

        >>> training = TrainingOptions.model_validate({"digits": 10, "steps": 100, "mastery": {"deadline": 0.8}})
        >>> [Mastery.least(step, training) for step in (0, 40, 50, 60, 79, 80, 99)]
        [2, 2, 4, 6, 9, 10, 10]
        """
        deadline, patience = training.mastery.deadline * training.steps, training.mastery.patience
        if not deadline:
            return 0
        share = min(1.0, max(0.0, (step / deadline - patience) / (1 - patience)))
        start = min(training.mastery.start, training.digits)
        return start + int(share * (training.digits - start))

    def counts(self, digits: int) -> bool:
        """Whether a batch of this length shows if the longest length is mastered."""
        return digits >= self.longest - max(1, self.longest // 8)

    def record(self, accuracy: float, step: int, training: TrainingOptions) -> None:
        """Take in a step's accuracy on the batches that count."""
        options = training.mastery
        self.streak = self.streak + 1 if accuracy >= options.accuracy else 0
        if self.streak >= options.streak and self.longest < training.digits:
            self.longest = min(training.digits, self.longest + max(1, int(self.longest * options.stride)))
            self.streak = 0
            if self.longest == training.digits:
                self.reached = step + 1
