"""`lengthlab evaluate`: exact match of a trained run."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from lengthlab.evaluation.exact_match import Row, evaluate
from lengthlab.evaluation.load import load_model
from lengthlab.runs import Run


def evaluate_run(
    run: Run, weights: str, digits: Sequence[int] | None, examples: int | None, chain: int | None, console: Console
) -> list[Row]:
    """Test a run on the given lengths, or on its own; the run folder is left as it is."""
    model, pipeline = load_model(run, weights)
    options = run.config.evaluation
    lengths = digits or options.digits
    pipeline.require(max(lengths), "--digits")
    with console.status("evaluating") as status:
        return evaluate(
            model,
            pipeline,
            lengths,
            examples or options.examples,
            options.chain if chain is None else chain,
            lambda row: status.update(f"{row.digits} digits: {row.exact_match:.1%}"),
        )


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
