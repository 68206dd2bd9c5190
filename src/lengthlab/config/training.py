"""The settings of training: schedule, sharpness, mastery, and all the rest."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from lengthlab.config.axes import SCHEDULES
from lengthlab.config.fields import ChosenOptimizer, Lengths, Switch, default_of, one_of
from lengthlab.config.sections import Section
from lengthlab.optimizers import OPTIMIZERS


class ScheduleOptions(Section):
    """Linear warm-up from 0, then the paper's cosine decay to `final` of the peak rate, or another course."""

    kind: Annotated[str, one_of(SCHEDULES), SCHEDULES] = Field(
        default=SCHEDULES.default, description="stable-decay: at the peak, then down over the last `decay` of the steps"
    )
    decay: float = Field(default=0.2, gt=0, le=1, description="share of the steps over which stable-decay goes down")
    warmup: int = Field(default=500, ge=0, le=10**9, description="steps of warm-up")
    final: float = Field(default=0.1, ge=0, le=1, description="last rate as a share of the peak")


class SharpnessOptions(Section):
    """Random sharpness: in training, all attention logits of a step are multiplied by one random factor.

    A hypothesis, not a published method: a solution that works at every sharpness can be made hard at test
    (`model.logit_factor_at_test`), and hard attention does not dilute as the number of keys grows. It is to the softmax
    what randomized positions are to the ids.
    """

    most: float = Field(default=1.0, ge=1, description="factors are log-uniform between 1 and this; 1 for none")
    growth: float = Field(
        default=0.3, ge=0, le=1, description="share of the steps over which their range grows to its full width"
    )


class MasteryOptions(Section):
    """Growth by mastery: the longest training length starts small and grows when the present one is learned.

    A step counts if it has a batch within an eighth of the longest length; it is mastered if the next-token accuracy on
    the answers of those batches reaches `accuracy`. Short sums cost little, and that is where models take off.
    """

    accuracy: float = Field(default=0.0, ge=0, le=1, description="accuracy that counts as mastered; 0 for no mastery")
    start: int = Field(
        default=2,
        ge=1,
        le=10_000,
        description="where the longest length starts; at 2 or 3 digits some models learn each length by itself",
    )
    deadline: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="share of the steps after which the full length is drawn, mastered or not: after `patience` of it "
        "the longest length grows evenly at least; 0: it waits as long as it takes",
    )
    patience: float = Field(
        default=0.5, ge=0, lt=1, description="share of the deadline that passes before it makes the length grow"
    )
    streak: int = Field(
        default=3, ge=1, le=10**6, description="mastered steps in a row after which the longest length grows"
    )
    stride: float = Field(
        default=0.17, ge=0, description="how much it grows, as a share of itself, rounded down; at least 1"
    )


class TrainingOptions(Section):
    """What is trained on, for how long, and how."""

    digits: int = Field(default=10, ge=1, le=10_000, description="longest operand; lengths are uniform in 1..digits")
    steps: int = Field(default=1000, ge=1, le=10**8, description="updates of the weights")
    batch: int = Field(
        default=128, ge=1, le=1_000_000, description="examples in a step, all of one length; rows if packed"
    )
    batch_tokens: int = Field(
        default=0,
        ge=0,
        le=10**9,
        description="if not 0, batches of short examples have as many as fill this many tokens, at least `batch`",
    )
    batch_most: int = Field(
        default=1024, ge=1, le=1_000_000, description="the most examples in a batch that `batch_tokens` fills"
    )
    accumulate: int = Field(default=1, ge=1, le=10_000, description="batches in a step, each with its own length")
    pack: int = Field(
        default=0,
        ge=0,
        le=10_000_000,
        description="if not 0, a step is `batch` rows of this many tokens, filled with examples of all lengths",
    )
    growth: float = Field(
        default=0.0, ge=0, le=1, description="share of the steps over which the longest length grows from 2 to `digits`"
    )
    mastery: MasteryOptions = MasteryOptions()
    sharpness: SharpnessOptions = SharpnessOptions()
    least_loops: int = Field(
        default=0,
        ge=0,
        le=1_000,
        description="if not 0, each step applies the layers a random number of times, from this to `model.loops`",
    )
    examples: int = Field(
        default=0,
        ge=0,
        le=10**12,
        description="size of a finite training set, in an order of its own (seeds.order); 0: an endless stream",
    )
    weighting: float = Field(
        default=0.0, ge=-10, le=10, description="lengths are drawn in proportion to length to this power; 0 for uniform"
    )
    max_examples: int = Field(default=0, ge=0, le=10**15, description="stop after this many examples; 0 for no limit")
    max_tokens: int = Field(default=0, ge=0, le=10**18, description="stop after this many tokens; 0 for no limit")
    stop_at: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="stop once every evaluated training length has this exact match; 0 for never",
    )
    ema: float = Field(default=0.0, ge=0, lt=1, description="decay of a moving average of the weights; 0 for none")
    optimizer: ChosenOptimizer = Field(default_factory=lambda: default_of(OPTIMIZERS))
    schedule: ScheduleOptions = ScheduleOptions()
    clip: float = Field(default=1.0, ge=0, description="largest gradient norm; 0 for no clipping")
    rows: Literal["auto", "dense", "packed"] = Field(
        default="auto",
        description="packed: examples end to end in rows of `pack` tokens; dense: a batch for each length, with the "
        "same loss; auto: packed on a GPU where attention has no bias",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(default="auto", description="auto: a GPU if there is one")
    precision: Literal["auto", "fp32", "bf16"] = Field(
        default="auto", description="of matrix products; auto: bf16 where the processor computes in it"
    )
    compile: Switch = Field(
        default="auto", description="torch.compile for what lies between matrix products; auto: where it pays off"
    )
    checkpoint_every: int = Field(
        default=200, ge=1, le=10**9, description="steps between checkpoints, from which a run can resume"
    )
    keep: int = Field(default=2, ge=1, le=10**6, description="how many checkpoints are kept")
    log_every: int = Field(default=20, ge=1, le=10**9, description="steps between lines of metrics.jsonl")
    evaluate_every: int = Field(
        default=200, ge=0, le=10**9, description="steps between evaluations during training; 0 for none"
    )
    evaluate_digits: Lengths = Field(default=(), description="lengths evaluated during training")
    evaluate_examples: int = Field(default=64, ge=1, le=10**7, description="problems for each of them")

    @model_validator(mode="after")
    def _packed_steps_need_no_accumulation(self) -> Self:
        if self.pack and self.accumulate > 1:
            raise PydanticCustomError(
                "pack", "packed steps hold all lengths already; use a larger batch", {"key": "accumulate"}
            )
        if self.rows == "packed" and not self.pack:
            raise PydanticCustomError("rows", "packed rows need their length: training.pack=2048", {"key": "rows"})
        return self

    @model_validator(mode="after")
    def _steps_have_one_plan(self) -> Self:
        if self.pack and self.batch_tokens:
            reason = "packed steps have a constant number of tokens already; set one of pack and batch_tokens to 0"
            raise PydanticCustomError("batch_tokens", reason, {"key": "batch_tokens"})
        if self.mastery.accuracy and self.growth:
            reason = "the longest length grows by mastery or with the step, not both; set growth to 0"
            raise PydanticCustomError("growth", reason, {"key": "growth"})
        if self.mastery.accuracy and self.rows == "packed":
            reason = "mastery is judged on batches of one length; use dense"
            raise PydanticCustomError("rows", reason, {"key": "rows"})
        return self

    def length_weight(self, digits: int) -> float:
        """How often training problems of a length are drawn, but for a factor that all lengths share."""
        return float(digits) ** self.weighting

    def batch_size(self, columns: int) -> int:
        """How many examples of so many tokens a batch has, if steps are not packed."""
        return max(self.batch, min(self.batch_most, self.batch_tokens // columns))
