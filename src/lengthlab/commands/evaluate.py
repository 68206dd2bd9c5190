"""`lengthlab evaluate`: exact match of a trained run."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from lengthlab.config import Config
from lengthlab.errors import UserError, suggestion
from lengthlab.evaluation.exact_match import Row, evaluate
from lengthlab.evaluation.examples import example_file
from lengthlab.evaluation.load import load_model
from lengthlab.recipes.load import load_config
from lengthlab.runs import Run

AT_TEST = (  # what can differ between training and test
    "positions.at_test",
    "model.logit_factor_at_test",
    "format.hints_at_test",
    "format.spaces.at_test",
    "seeds.test",
)


def config_at_test(run: Run, choices: Sequence[str]) -> Config:
    """The run's config with other choices for the test, none of which concerns its training."""
    for choice in choices:
        name, separator, _ = choice.partition("=")
        if not separator or name not in AT_TEST:
            raise UserError(f"{choice}: not a choice for the test; {suggestion(name, AT_TEST)}")
    return load_config(str(run.path / "config.yaml"), choices) if choices else run.config


def evaluate_run(
    run: Run,
    config: Config,
    choices: Sequence[str],
    weights: str,
    digits: Sequence[int] | None,
    examples: int | None,
    chain: int | None,
    console: Console,
) -> list[Row]:
    """Test a run on the given lengths, or on its own; its scores stay as they are, the examples are kept beside them.

    An example that was tested before, after training or by this command, is not tested again.
    """
    model, pipeline = load_model(run, weights, config)
    options = config.evaluation
    lengths, wanted = digits or options.digits, examples or options.examples
    carries = options.chain if chain is None else chain
    pipeline.require(max(lengths), "--digits")
    next(pipeline.test_batches(max(lengths), 1, carries))  # refused before anything is written
    kept = example_file(run.examples, run.weights_file(weights), weights, carries, sorted(choices))
    with console.status("evaluating") as status:
        tell = lambda row: status.update(f"{row.digits} digits: {row.exact_match:.1%}")
        return evaluate(model, pipeline, lengths, wanted, carries, tell, kept)


def interval_text(row: dict[str, Any]) -> str:
    """A score with its interval, in columns."""
    return f"{row['exact_match']:6.1%}  [{row['low']:6.1%}, {row['high']:6.1%}]"


def rows_table(results: Mapping[str, Sequence[dict[str, Any]]], trained: int) -> Table:
    """Exact match by length, a column for each labelled result; a rule after the longest training length."""
    table = Table(title="Exact match by digit length, with 95% Wilson intervals", title_justify="left")
    table.add_column("digits", justify="right")
    for label, rows in results.items():
        table.add_column(f"{label} (n = {rows[0]['examples']})", justify="right")
    by_length = {label: {row["digits"]: row for row in rows} for label, rows in results.items()}
    for digits in sorted({digits for rows in by_length.values() for digits in rows}):
        cells = [interval_text(rows[digits]) if digits in rows else "" for rows in by_length.values()]
        style = None if digits <= trained else "cyan"
        table.add_row(str(digits), *cells, style=style, end_section=digits == trained)
    table.caption = f"trained on 1-{trained} digits"
    table.caption_justify = "left"
    return table


def scores_table(label: str, rows: Sequence[dict[str, Any]], trained: int) -> Table:
    """All scores of one run, a row for each length."""
    title = (
        f"{label}: shares of right answers, digits, next tokens and lengths (n = {rows[0]['examples']} problems each)"
    )
    table = Table(title=title, title_justify="left")
    for name in ("digits", "exact match  [95% interval]", "digit", "token", "length"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        scores = [f"{row[f'{what}_accuracy']:.1%}" for what in ("digit", "token", "length")]
        inside = row["digits"] <= trained
        last = inside and not any(row["digits"] < other["digits"] <= trained for other in rows)
        table.add_row(
            str(row["digits"]), interval_text(row), *scores, style=None if inside else "cyan", end_section=last
        )
    kind = f"; a carry runs through {rows[0]['chain']} places" if rows[0]["chain"] else ""
    choices = f"; {', '.join(rows[0]['choices'])}" if rows[0]["choices"] else ""
    table.caption = f"trained on 1-{trained} digits; {rows[0]['weights']} weights{kind}{choices}"
    table.caption_justify = "left"
    return table
