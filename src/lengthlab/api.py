"""The Python door: what `import lengthlab as ll` offers, on the same run folders as the command line."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from importlib import import_module
from pathlib import Path
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any, Literal, Self

from lengthlab.config.lengths import parse_lengths
from lengthlab.config.load import load_config
from lengthlab.errors import UserError
from lengthlab.runs import run as folders
from lengthlab.runs.columns import Row

if TYPE_CHECKING:
    from lengthlab.analysis.attention import AttentionMap
    from lengthlab.batches import Pipeline
    from lengthlab.evaluation.ask import Answer
    from lengthlab.model.transformer import Transformer
    from lengthlab.runs.groups import GroupComparison
    from lengthlab.runs.reader import Loaded, Record

Weights = Literal["last", "best", "ema"]
Lengths = str | int | Sequence[int]  # "1-30", 30 or [10, 20, 30]


class Rows(list[Row]):
    """Rows of a table, each a dictionary; printed, and in a notebook, they are the table."""

    def __repr__(self) -> str:
        lines = self._lines()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.rjust, line, widths)) for line in lines) if self else "no rows"

    def _repr_html_(self) -> str:
        rows = ("".join(f"<td>{escape(cell)}</td>" for cell in line) for line in self._lines())
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"

    def _lines(self) -> list[list[str]]:
        """Names of columns, and cells; of the intervals only that of exact match, beside it."""
        names = [name for name in self.to_dict() if not name.endswith(("low", "high"))]
        head = [name.removesuffix("_accuracy").replace("_", " ") for name in names]
        return [head, *([_cell(row, name) for name in names] for row in self)]

    def to_dict(self) -> dict[str, list[Any]]:
        """Column by column."""
        columns = list(dict.fromkeys(name for row in self for name in row))
        return {name: [row.get(name) for row in self] for name in columns}

    def to_frame(self) -> Any:
        """A pandas DataFrame, where pandas is installed."""
        try:
            pandas = import_module("pandas")  # neither needed nor known here otherwise
        except ImportError:
            raise UserError("to_frame: pandas is not installed; pip install pandas, or use to_dict()") from None
        return pandas.DataFrame(self)


@dataclass(frozen=True)
class Run(folders.Run):
    """A run folder, and the trained model in it."""

    def __repr__(self) -> str:
        from lengthlab.runs.reader import read_run

        try:
            record = read_run(self.path)
        except UserError:
            record = None
        if record is None:
            return f"<Run {self.path}: not a run that can be read>"
        row = record.row
        what = row["recipe"] or f"{row['positions']} ids x {row['encoding']}"
        return f"<Run {self.id}: {what}, seed {record.seed}, {row['state']}, in {self.path}>"

    @property
    def finished(self) -> bool:
        return self.status.get("state") == "finished"

    @property
    def scores(self) -> Rows:
        """The evaluation that ended the training: a row for each length."""
        return Rows(self.evaluation or [])

    @cached_property
    def _last(self) -> "tuple[Transformer, Pipeline]":
        from lengthlab.evaluation.load import load_model

        return load_model(self)

    @property
    def model(self) -> "Transformer":
        """The model with its last weights, an nn.Module."""
        return self._last[0]

    def evaluate(
        self,
        digits: Lengths | None = None,
        *,
        examples: int | None = None,
        weights: Weights = "last",
        chain: int | None = None,
    ) -> Rows:
        """Exact match and other scores at each length; the run's own lengths and examples if none are given.

        What was tested before, here or on the command line, is not tested again. `chain`: sums in which a carry runs
        through this many places.
        """
        from lengthlab.evaluation.load import evaluate_run, load_model

        if examples is not None and examples < 1:
            raise UserError("examples: at least 1")
        lengths = None if digits is None else _lengths(digits)
        loaded = self._last if weights == "last" else load_model(self, weights)
        return Rows(evaluate_run(self, *loaded, weights, lengths, examples, chain))

    def ask(self, question: str) -> "Answer":
        """The model's answer to a question such as "123+456": text, tokens, probabilities, right or not."""
        from lengthlab.evaluation.ask import ask

        return ask(*self._last, question)

    def attention(self, question: str) -> "AttentionMap":
        """What the model looks at while it answers: weights (layers, heads, queries, keys), with the tokens of both."""
        from lengthlab.analysis.attention import attention_map
        from lengthlab.evaluation.ask import written_question

        model, pipeline = self._last
        batch = written_question(pipeline, question)
        return attention_map(model, batch, pipeline.task.operands, pipeline.format.vocabulary)

    @classmethod
    def find(cls, name: str | Path) -> Self:
        """An existing run by its folder or by the beginning of its id."""
        return cls(folders.Run.find(str(name)).path)


def _cell(row: Row, name: str) -> str:
    value = row.get(name)
    share = f"{value:.1%}" if isinstance(value, float) else str(value)
    return f"{share}  [{row['low']:6.1%}, {row['high']:6.1%}]" if name == "exact_match" and "low" in row else share


Group = str | Sequence[Run]  # a condition, or the runs themselves


def train(
    recipe: str | Path,
    *overrides: str,
    seed: int | None = None,
    fresh: bool = False,
    watch: Callable[[Row], None] = lambda line: None,
) -> Run:
    """Train a recipe, with `key=value` settings on top, and evaluate it; a run that is finished is returned at once.

    One that was cut short, or that has a damaged file, resumes. `fresh` starts again from nothing. `watch` is given
    each logged line of metrics.
    """
    from lengthlab.config.checks import check
    from lengthlab.training.resume import is_finished

    config = load_config(str(recipe), [*overrides, *([] if seed is None else [f"seed={seed}"])])
    run = Run(folders.Run.of(config).path)
    if not fresh and is_finished(run):
        return run
    check(config)
    from lengthlab.training.loop import Trainer, Watcher

    Trainer(config, run, Watcher(watch), recipe=Path(recipe).stem).train(fresh)
    return run


def load(run: str | Path) -> Run:
    """An existing run by its folder or by the beginning of its id."""
    return Run.find(run)


def ask(question: str, model: str = "robust") -> "Answer":
    """What a bundled model (robust, paper or fragile) or a run answers to a sum such as "123+456"."""
    from lengthlab.shipped.adder import find_adder

    a, plus, b = question.partition("+")
    if not plus:
        raise UserError(f"ask: {question!r} is not a sum of two numbers, such as 123+456")
    return find_adder(model).ask(a.strip(), b.strip())


def runs(condition: str = "") -> list[Run]:
    """The runs that meet a condition such as "encoding = 'fire' and exact_match_20 > 0.9"."""
    from lengthlab.runs.database import Database
    from lengthlab.runs.groups import select

    loaded = _read_all()
    chosen = select(loaded, Database(loaded, metrics=False), condition)
    return [Run(loaded.folder / record.id) for record in chosen]


def compare(
    a: Group, b: Group, *, digits: int, names: tuple[str, str] | None = None, paired: bool | None = None
) -> "GroupComparison":
    """Two groups of runs against each other over their seeds; printed, it is a sentence.

    Each group is a condition, as for `runs`, or a list of runs.
    """
    from lengthlab.runs.groups import compare_groups, compare_records

    if isinstance(a, str) and isinstance(b, str):
        return compare_groups(_read_all(), a, b, digits, names, paired)
    return compare_records(_group(a), _group(b), digits, names, paired)


def _group(group: Group) -> "tuple[str, list[Record]]":
    """The runs of a group as records, and the words that chose them."""
    from lengthlab.runs.reader import read_run

    listed = runs(group) if isinstance(group, str) else group
    if not isinstance(listed, Sequence) or not all(isinstance(run, folders.Run) for run in listed):
        wanted = "a condition such as \"encoding = 'fire'\", or a list of runs such as ll.runs() returns"
        raise UserError(f"compare: {shortened(group)} is not a group; give {wanted}")
    words = group if isinstance(group, str) else ", ".join(run.id for run in listed)
    return words, [record for run in listed if (record := read_run(run.path))]


def _read_all() -> "Loaded":
    """All runs; a warning names what cannot be read."""
    from lengthlab.runs.reader import read_runs

    loaded = read_runs(folders.runs_folder())
    if loaded.complaint:
        warnings.warn(loaded.complaint, stacklevel=3)
    return loaded


def _lengths(digits: Lengths) -> tuple[int, ...]:
    text = digits if isinstance(digits, str) else ",".join(map(str, [digits] if isinstance(digits, int) else digits))
    try:
        return parse_lengths(text)
    except ValueError as error:
        raise UserError(f"digits: {error}") from None
