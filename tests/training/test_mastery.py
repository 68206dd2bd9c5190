"""Growth by mastery: when the longest length grows, and what else depends on it."""

from collections.abc import Callable

import pytest

from lengthlab.config.schema import Config
from lengthlab.config.training import TrainingOptions
from lengthlab.errors import UserError
from lengthlab.training.schedule import Mastery, longest_digits
from lengthlab.training.step import Engine

Smoke = Callable[..., Config]


def options(**mastery: float) -> TrainingOptions:
    return TrainingOptions.model_validate({"digits": 40, "mastery": {"accuracy": 0.98, **mastery}})


def heard(mastery: Mastery, training: TrainingOptions, accuracies: list[float]) -> list[int]:
    """The longest length after each judged step."""
    lengths = []
    for step, accuracy in enumerate(accuracies):
        mastery.record(accuracy, step, training)
        lengths.append(mastery.longest)
    return lengths


def test_it_grows_after_a_streak_and_a_failure_breaks_the_streak() -> None:
    mastery, training = Mastery.at_start(options()), options()
    assert mastery.longest == 2
    assert heard(mastery, training, [0.97, 0.98, 0.99, 1.0, 0.98, 0.98, 0.5, 0.98, 0.98]) == [2, 2, 2, 3, 3, 3, 3, 3, 3]
    assert heard(mastery, training, [0.98]) == [4]


def test_it_grows_by_one_or_a_share_and_never_past_the_full_length() -> None:
    training = options(streak=1)
    lengths = heard(Mastery.at_start(training), training, [1.0] * 30)
    assert lengths[:10] == [3, 4, 5, 6, 7, 8, 9, 10, 11, 12] and lengths[10:14] == [14, 16, 18, 21]
    assert lengths == sorted(lengths) and lengths[-1] == 40
    mastery = Mastery.at_start(training)
    assert mastery.reached == -1
    heard(mastery, training, [1.0] * 30)
    assert mastery.reached == lengths.index(40) + 1
    assert heard(Mastery.at_start(training), options(streak=1, stride=0), [1.0] * 3) == [3, 4, 5]


def test_only_batches_of_nearly_the_longest_length_count() -> None:
    assert [digits for digits in range(1, 41) if Mastery(40).counts(digits)] == [35, 36, 37, 38, 39, 40]
    assert [digits for digits in range(1, 11) if Mastery(10).counts(digits)] == [9, 10]


def test_a_step_is_judged_on_its_long_batches_alone(smoke: Smoke) -> None:
    """With a threshold that everything passes, exactly the steps with a long batch count."""
    overrides = ("training.growth=0", "training.digits=9", "training.accumulate=1", "training.batch=4")
    engine = Engine(smoke(*overrides, "training.mastery={accuracy: 1.0e-9, streak: 1000}"))
    assert engine.mastery is not None
    engine.mastery.longest = 9
    counted = 0
    for step in range(30):
        drawn = engine.pipeline.training_batches(step, 9)
        metrics = engine.step(step)
        counted = counted + 1 if drawn[0].digits >= 8 and metrics["accuracy"] > 0 else counted * (drawn[0].digits < 8)
        assert metrics["longest"] == 9 and engine.mastery.streak == counted


def test_lengths_stay_within_what_is_mastered(smoke: Smoke) -> None:
    engine = Engine(smoke("training.growth=0", "training.digits=9", "training.mastery.accuracy=1"))
    lengths = {engine.step(step)["longest"] for step in range(10)}
    assert lengths == {2}  # nothing is mastered so soon
    assert all(batch.digits <= 2 for step in range(10) for batch in engine.pipeline.training_batches(step, 2))


def test_a_deadline_brings_the_full_length_to_settings_that_master_nothing(smoke: Smoke) -> None:
    overrides = ("training.growth=0", "training.digits=9", "training.steps=30", "training.mastery.accuracy=1")
    engine = Engine(smoke(*overrides, "training.mastery.deadline=0.8"))
    lengths = [engine.step(step)["longest"] for step in range(30)]
    assert lengths[:13] == [2] * 13 and lengths[24:] == [9] * 6 and lengths == sorted(lengths)
    assert engine.mastery is not None and engine.mastery.reached == 24
    patient = engine.config.training.model_copy(
        update={"mastery": engine.config.training.mastery.model_copy(update={"patience": 0.75})}
    )
    lengths = [Mastery.least(step, patient) for step in range(30)]
    assert lengths[:19] == [2] * 19 and lengths[20] > 2 and lengths[24:] == [9] * 6  # of 24 steps, 18 pass first
    fast = Mastery(7, streak=2)  # ahead of its deadline
    fast.keep_pace(15, engine.config.training)
    assert (fast.longest, fast.streak) == (7, 2)


def test_the_longest_length_may_start_higher(smoke: Smoke) -> None:
    overrides = ("training.growth=0", "training.digits=9", "training.steps=10", "training.mastery.accuracy=1")
    engine = Engine(smoke(*overrides, "training.mastery={accuracy: 1, start: 5, deadline: 1}"))
    lengths = [engine.step(step)["longest"] for step in range(10)]
    assert lengths[:6] == [5] * 6 and lengths == sorted(lengths) and lengths[-1] == 8
    short = Engine(smoke(*overrides, "training.mastery.start=12")).mastery
    assert short is not None and (short.longest, short.reached) == (9, 0)  # no longer than what is trained on


def test_without_mastery_nothing_is_judged(smoke: Smoke) -> None:
    assert Engine(smoke()).mastery is None


def test_estimates_assume_a_course() -> None:
    training = options().model_copy(update={"steps": 1000})
    course = [longest_digits(step, training) for step in range(1000)]
    assert course == sorted(course) and course[0] == 2 and course[400] == 40


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["training.mastery.accuracy=0.9"], r"training\.growth: the longest length grows by mastery or with the step"),
        (
            ["training.growth=0", "training.mastery.accuracy=0.9", "training.pack=128", "training.rows=packed"],
            r"training\.rows: mastery is judged on batches of one length; use dense",
        ),
        (["training.mastery.accurracy=0.9"], r"training\.mastery\.accurracy: no such key; did you mean accuracy"),
    ],
)
def test_plans_that_exclude_each_other_are_refused(overrides: list[str], message: str, smoke: Smoke) -> None:
    with pytest.raises(UserError, match=message):
        smoke(*overrides)


def test_late_ids_wait_for_the_full_length(smoke: Smoke) -> None:
    late = ("positions={kind: randomized, late: 0.2}", "training.digits=4", "training.steps=100", "training.growth=0")
    engine = Engine(smoke(*late, "training.mastery={accuracy: 1.0e-9, streak: 1000}"))
    assert engine.mastery is not None

    def spread(step: int) -> int:
        batch = engine.drawn[step][0]
        return int(batch.positions[0].max()) - (batch.tokens.shape[1] - 1)

    assert {spread(step) for step in range(20)} == {0}
    engine.mastery.longest, engine.mastery.reached = 4, 50
    assert spread(50) == 0 and max(spread(step) for step in range(65, 90)) > 100
    fixed = Engine(smoke(*late, "training.growth=0.3"))
    drawn = [fixed.drawn[step][0] for step in (*range(31), *range(60, 90))]
    spreads = [int(batch.positions[0].max()) - (batch.tokens.shape[1] - 1) for batch in drawn]
    assert set(spreads[:31]) == {0} and max(spreads[31:]) > 100
