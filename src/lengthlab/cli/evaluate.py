"""`lengthlab evaluate`: exact match of a trained run, and the tables of scores."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich.table import Table

from lengthlab.cli.console import Screen, complain, print_json, table
from lengthlab.cli.parameters import MOST_EXAMPLES, Json, RunName, Weights, at_least, lengths
from lengthlab.config.lengths import LONGEST
from lengthlab.errors import UserError, suggestion

if TYPE_CHECKING:
    from lengthlab.config.schema import Config
    from lengthlab.runs.run import Run

AT_TEST = (  # what can differ between training and test
    "positions.at_test",
    "model.logit_factor_at_test",
    "model.loops",
    "format.hints_at_test",
    "format.spaces.at_test",
    "seeds.test",
    "evaluation.operands",
)


def evaluate(
    run: RunName,
    /,
    *choices: Annotated[
        str, Parameter(help="Settings for the test, such as positions.at_test=false or model.logit_factor_at_test=2.")
    ],
    digits: Annotated[
        str | None, Parameter(help="Lengths, such as 1-20 or 5,10,15-20; the run's own if not given.")
    ] = None,
    examples: Annotated[int | None, Parameter(help="Problems of each length; the run's own if not given.")] = None,
    weights: Weights = "last",
    chain: Annotated[
        int | None, Parameter(help="Test sums in which a carry runs through this many places; 0: uniform sums.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Test a trained run: exact match for each length.

    Prints 95% intervals, and the shares of correct digits, next tokens
    and answer lengths. The scores stored with the run are not changed.
    """
    from lengthlab.runs.run import Run

    found = Run.find(run)
    asked = lengths("--digits", digits) if digits is not None else None
    at_least(1, MOST_EXAMPLES, examples=examples)
    at_least(0, LONGEST, chain=chain)
    config = _config_at_test(found, choices)
    from lengthlab.evaluation.load import evaluate_run, load_model

    def warn(note: str) -> None:
        complain(note, "yellow")

    model, pipeline = load_model(found, weights, config)
    with Screen(stderr=True).status("evaluating") as status:
        show = lambda row: status.update(f"{row.digits} digits: {row.exact_match:.1%}")
        rows = evaluate_run(
            found, model, pipeline, weights, asked, examples, chain, choices, "--digits", progress=show, note=warn
        )
    rows = [row | {"choices": sorted(choices)} for row in rows]
    if as_json:
        print_json(rows)
    else:
        Screen().show(_scores_table(found.id, rows, config.training.digits))


def _config_at_test(run: "Run", choices: Sequence[str]) -> "Config":
    """The run's config with other choices for the test, none of which concerns its training."""
    for choice in choices:
        name, separator, _ = choice.partition("=")
        if not separator or name not in AT_TEST:
            raise UserError(f"{choice}: not a choice for the test; {suggestion(name, AT_TEST)}")
    return run.config_with(choices)


def rows_table(results: Mapping[str, Sequence[dict[str, Any]]], trained: int) -> Table:
    """Exact match by length, a column for each labelled result; a rule after the longest training length."""
    made = table("Exact match by length, with 95% Wilson intervals", (), ("digits",))
    for label, rows in results.items():
        made.add_column(f"{label}\n(n = {rows[0]['examples']})", justify="right", overflow="fold")
    by_length = {label: {row["digits"]: row for row in rows} for label, rows in results.items()}
    tested = sorted({digits for rows in by_length.values() for digits in rows})
    for digits in tested:
        cells = [_interval(rows[digits]) if digits in rows else "" for rows in by_length.values()]
        _add_length(made, digits, cells, tested, trained)
    made.caption = _trained_on(trained, tested)
    return made


def _trained_on(trained: int, tested: Sequence[int]) -> str:
    """The notes under the scores, among them that the shortest problems occur in training too."""
    twice = " (problems of 1 or 2 digits are few: training may have met them)" if min(tested) < 3 else ""
    return f"trained on 1-{trained} digits{twice}"


def _scores_table(label: str, rows: Sequence[dict[str, Any]], trained: int) -> Table:
    """All scores of one run, a row for each length."""
    title = f"{label}: shares of right answers, digits, next tokens and lengths"
    made = table(title, (), ("digits", "exact match  [95% interval]", "digit", "token", "length"))
    tested = [row["digits"] for row in rows]
    for row in rows:
        scores = [f"{row[f'{what}_accuracy']:.1%}" for what in ("digit", "token", "length")]
        _add_length(made, row["digits"], [_interval(row), *scores], tested, trained)
    first = rows[0]
    shorter = " or all there are" if first["chain"] and min(tested) < first["chain"] else ""
    kind = f"; a carry runs through {first['chain']} places{shorter}" if first["chain"] else ""
    choices = f"; {', '.join(first['choices'])}" if first["choices"] else ""
    made.caption = (
        f"{_trained_on(trained, tested)}; {first['examples']} problems of each length; "
        f"{first['weights']} weights{kind}{choices}"
    )
    return made


def _interval(row: dict[str, Any]) -> str:
    """A score with its interval, in columns."""
    return f"{row['exact_match']:6.1%}  [{row['low']:6.1%}, {row['high']:6.1%}]"


def _add_length(made: Table, digits: int, cells: Sequence[str], tested: Sequence[int], trained: int) -> None:
    """A row; training lengths stand above a rule, longer ones in colour below it."""
    last = digits == max((length for length in tested if length <= trained), default=None)
    made.add_row(str(digits), *cells, style=None if digits <= trained else "cyan", end_section=last)
