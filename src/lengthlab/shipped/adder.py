"""A model that can be asked for sums: one that comes with the package, or a run's."""

from dataclasses import dataclass
from functools import cached_property

from lengthlab.batches import Batch, Pipeline
from lengthlab.config.checks import require_length
from lengthlab.errors import UserError, suggestion
from lengthlab.evaluation.ask import Answer, ask, parse_question
from lengthlab.evaluation.load import load_model
from lengthlab.export.file import open_model
from lengthlab.model.transformer import Transformer
from lengthlab.runs.run import Run
from lengthlab.shipped import DEFAULT, shipped_file, shipped_names
from lengthlab.tasks import adds_two_numbers

LONGEST = 2000  # digits; the attention of the whole question is in memory at once


@dataclass(frozen=True)
class Adder:
    """A trained model of sums of two numbers, with the pipeline that writes its questions."""

    name: str
    model: Transformer
    pipeline: Pipeline

    def __post_init__(self) -> None:
        if not adds_two_numbers(self.pipeline.config.task.model_dump()):
            raise UserError(f"{self.name} was not trained to add two numbers")

    @cached_property
    def longest(self) -> int:
        """How many digits its hints, ids and tables can read, at most LONGEST."""
        low, high = 1, LONGEST
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._reads(middle) else (low, middle - 1)
        return low

    def _reads(self, digits: int) -> bool:
        try:
            require_length(self.pipeline, digits, "the longer number")
        except UserError:
            return False
        return digits <= LONGEST

    def question(self, a: str, b: str) -> Batch:
        """The sum as the model reads it, with the right answer behind it."""
        operands = parse_question(self.pipeline.task, f"{a}+{b}")
        digits = max(operand.shape[1] for operand in operands)
        if not self._reads(digits):
            raise UserError(
                f"{self.name} reads numbers of at most {self.longest} digits, and one of these has {digits}"
            )
        return self.pipeline.question(operands)

    def ask(self, a: str, b: str) -> Answer:
        """Greedy decoding of one sum."""
        self.question(a, b)  # refused in words of its own
        return ask(self.model, self.pipeline, f"{a}+{b}")


def find_adder(name: str = DEFAULT) -> Adder:
    """A shipped model by its name, or a run by its folder or the beginning of its id."""
    if name in shipped_names():
        return shipped_adder(name)
    try:
        run = Run.find(name)
    except UserError as error:
        raise UserError(f"{error}; of the models in the box, {suggestion(name, shipped_names())}") from None
    return run_adder(run)


def shipped_adder(name: str) -> Adder:
    model, pipeline, _ = open_model(shipped_file(name))
    return Adder(f"the model {name}", model, pipeline)


def run_adder(run: Run) -> Adder:
    model, pipeline = load_model(run)
    return Adder(f"run {run.id}", model, pipeline)
