"""The command line. Commands import what they need inside, so that --help answers at once."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter
from rich.console import Console

from lengthlab import __version__
from lengthlab.commands.parameters import Json
from lengthlab.errors import RunFailed, UserError
from lengthlab.lengths import parse_lengths

QUICKSTART = "zhou2024-mini,coupling-relative-mini"

app = App(
    name="lengthlab",
    help="Train small Transformers on arithmetic and test them on problems longer than any they saw.",
    version=f"lengthlab {__version__}",
    suppress_keyboard_interrupt=False,
)

Overrides = Annotated[str, Parameter(help="Dotted settings, such as training.steps=500 or encoding=none.")]
Axis = Literal["encodings", "positions", "formats", "tasks", "optimizers", "recipes", "sizes", "options", "experiments"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command (that of the shell if None); a user's mistake ends in one sentence and exit status 2."""
    try:
        app(arguments, exit_on_error=False, print_error=False)
    except (UserError, CycloptsError) as error:
        _complain(error)
        sys.exit(2)
    except RunFailed as error:
        _complain(error)
        sys.exit(1)
    except OSError as error:
        if isinstance(error, BrokenPipeError):  # whoever read the output has read enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        _complain(f"{error.filename or 'file'}: {error.strerror or error}")
        sys.exit(2)
    except KeyboardInterrupt:
        _complain("interrupted")
        sys.exit(130)


def _complain(message: object) -> None:
    text = " ".join(str(message).split())
    Console(stderr=True).print(f"lengthlab: {text}", style="red", markup=False, highlight=False, soft_wrap=True)


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


@app.command(name="list")
def list_(what: Axis | None = None, /, *, as_json: Json = False) -> None:
    """List what can be chosen: encodings, positions, formats, tasks, recipes and so on; experiments; all options."""
    if what == "options":
        _list_options(as_json)
        return
    if what == "experiments":
        from lengthlab.commands.experiments import list_experiments, print_experiments

        (_print_json if as_json else print_experiments)(list_experiments())
        return
    from lengthlab.catalogue import catalogue

    chosen = {what: catalogue()[what]} if what else catalogue()
    if as_json:
        _print_json(chosen[what] if what else chosen)
        return
    width = max(len(item["name"]) for items in chosen.values() for item in items)
    for axis, items in chosen.items():
        print(f"{axis}")
        for item in items:
            print(f"  {item['name']:<{width}}  {item['description']}")


def _list_options(as_json: bool) -> None:
    from lengthlab.commands.options import all_options

    options = all_options()
    if as_json:
        _print_json(options)
        return
    width = max(len(option["name"]) for option in options)
    for option in options:
        text = f"{option['description'] or 'no description'} (default {option['default']})"
        print(f"{option['name']:<{width}}  {text}" + (f" [{option['variant']}]" if "variant" in option else ""))


@app.command
def show(
    recipe: str,
    /,
    *overrides: Overrides,
    digits: Annotated[int, Parameter(help="Length of the operands.")] = 3,
    examples: Annotated[int, Parameter(help="How many to show.")] = 2,
    as_json: Json = False,
) -> None:
    """Show examples as the model reads them: tokens, places, position ids and what the loss counts.

    Parameters
    ----------
    recipe
        A preset's name or a YAML file.
    """
    from lengthlab.commands.show import describe_examples, print_examples
    from lengthlab.recipes.load import load_config

    config = load_config(recipe, overrides)
    if digits < 1 or examples < 1:
        raise UserError("--digits and --examples: at least 1")
    shown = describe_examples(config, digits, examples)
    if as_json:
        _print_json(shown)
    else:
        print_examples(shown)


@app.command
def train(
    recipe: str | None = None,
    /,
    *overrides: Overrides,
    resume: Annotated[str | None, Parameter(help="Go on with this run (its folder or id) instead of a recipe.")] = None,
    dry_run: Annotated[
        bool, Parameter(negative="", show_default=False, help="Print what it would cost; start nothing.")
    ] = False,
    fresh: Annotated[
        bool, Parameter(negative="", show_default=False, help="Train again even if this run is finished.")
    ] = False,
    threads: Annotated[int | None, Parameter(help="Processor threads; all cores if not given.")] = None,
    tensorboard: Annotated[
        bool, Parameter(negative="", show_default=False, help="Write metrics for TensorBoard into the run folder too.")
    ] = False,
    wandb: Annotated[
        bool, Parameter(negative="", show_default=False, help="Write metrics for Weights & Biases too, offline.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Train a recipe, test it, and keep everything in runs/ID. A run that was cut short goes on where it was.

    Parameters
    ----------
    recipe
        A preset's name or a YAML file.
    """
    if threads is not None and threads < 1:
        raise UserError("--threads: at least 1")
    if (recipe is None) == (resume is None):
        raise UserError("train: name either a recipe, such as zhou2024-mini, or --resume RUN")
    from lengthlab.recipes.load import load_config
    from lengthlab.runs import Run

    config = load_config(recipe, overrides) if recipe is not None else Run.find(resume or "").config

    import torch

    from lengthlab.checks import check
    from lengthlab.commands.evaluate import rows_table
    from lengthlab.commands.train import estimate_json, print_estimate, train_config
    from lengthlab.training.estimate import estimate

    check(config)
    if threads:
        torch.set_num_threads(threads)
    if dry_run:
        expected = estimate(config)
        if as_json:
            _print_json(estimate_json(expected, Run.of(config)))
        else:
            print_estimate(expected, Run.of(config))
        return
    run = Run.find(resume) if resume else Run.of(config)
    if resume and not run.status:
        raise UserError(
            f"--resume {resume}: no run was begun there; lengthlab train {run.path / 'config.yaml'} begins one"
        )
    if not train_config(config, run, fresh, Console(stderr=as_json), tensorboard, wandb):
        return
    rows = run.evaluation or []
    if as_json:
        _print_json({"run": str(run.path), **run.status, "evaluation": rows})
    else:
        if rows:
            Console().print(rows_table({run.id: rows}, config.training.digits))
        if best := run.status.get("best"):
            score = f"{best['exact_match']:.1%} after step {best['step']}"
            print(f"best on training lengths: {score}; lengthlab evaluate {run.id} --weights best")
        print(f"run: {run.path}")


@app.command
def evaluate(
    run: str,
    /,
    *choices: Annotated[
        str, Parameter(help="Settings for the test, such as positions.at_test=false or model.logit_factor_at_test=2.")
    ],
    digits: Annotated[
        str | None, Parameter(help="Lengths, such as 1-20 or 5,10,15-20; the run's own if not given.")
    ] = None,
    examples: Annotated[int | None, Parameter(help="Problems for each length; the run's own if not given.")] = None,
    weights: Annotated[
        Literal["last", "best", "ema"],
        Parameter(help="The last weights, the best on lengths of training, or the average."),
    ] = "last",
    chain: Annotated[
        int | None, Parameter(help="Sums in which a carry runs through this many places; 0 for uniform ones.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Exact match of a trained run for each digit length, with 95% intervals; digits, next tokens and length too.

    Parameters
    ----------
    run
        The run's folder or (the beginning of) its id.
    """
    from lengthlab.runs import Run

    found = Run.find(run)
    lengths = _lengths("--digits", digits) if digits is not None else None
    if examples is not None and examples < 1:
        raise UserError("--examples: at least 1")
    if chain is not None and chain < 0:
        raise UserError("--chain: at least 0")
    from lengthlab.commands.evaluate import config_at_test, evaluate_run, scores_table

    config = config_at_test(found, choices)
    tested = evaluate_run(found, config, choices, weights, lengths, examples, chain, Console(stderr=True))
    chosen = {"weights": weights, "chain": config.evaluation.chain if chain is None else chain}
    rows = [row.as_dict() | chosen | {"choices": sorted(choices)} for row in tested]
    if as_json:
        _print_json(rows)
    else:
        Console().print(scores_table(found.id, rows, config.training.digits))


@app.command
def add(run: str, a: str, b: str, /, *, as_json: Json = False) -> None:
    """Ask a trained model for a sum.

    Parameters
    ----------
    run
        The run's folder or (the beginning of) its id.
    a
        The first number.
    b
        The second number.
    """
    from lengthlab.runs import Run

    found = Run.find(run)
    from lengthlab.commands.add import ask

    answer = ask(found, (a, b))
    if as_json:
        _print_json(asdict(answer))
        return
    print(f"prompt  {answer.prompt}")
    print(f"answer  {answer.produced}")
    print(f"{a} + {b} = {answer.answer}" if answer.answer is not None else f"{a} + {b}: the answer cannot be read")
    print("correct" if answer.correct else f"wrong: the sum is {answer.truth}")


@app.command
def figure(
    *runs: Annotated[str, Parameter(help="Folders or ids of runs.")],
    out: Annotated[Path, Parameter(help="Where to draw; .png, .svg and .pdf are added.")] = Path("exact-match"),
    title: Annotated[str, Parameter(help="Title of the figure.")] = "",
    as_json: Json = False,
) -> None:
    """Draw exact match by digit length, a line for each run."""
    from lengthlab.runs import Run

    if not runs:
        raise UserError("figure: name at least one run")
    found = [Run.find(name) for name in runs]
    from lengthlab.commands.figure import draw_runs

    files = [str(file) for file in draw_runs(found, out, title)]
    if as_json:
        _print_json(files)
    else:
        print("\n".join(files))


@app.command
def quickstart(
    *overrides: Overrides,
    recipes: Annotated[str, Parameter(help="Recipes to train, separated by commas.")] = QUICKSTART,
    seeds: Annotated[str, Parameter(help="Seeds of each, such as 1 or 1,2 or 1-5.")] = "1",
) -> None:
    """The paper's recipe and the strongest rival at mini scale, side by side, ending in a figure."""
    chosen = _lengths("--seeds", seeds, lowest=0)
    from lengthlab.commands.quickstart import quickstart as run_quickstart

    if not run_quickstart(recipes.split(","), chosen, overrides, Console()):
        sys.exit(1)


ANALYSE_HELP = "Why answers are wrong: kinds of mistakes, examples, figures, and what the attention looks at."
app.command("lengthlab.commands.analyse:analyse", name="analyse", help=ANALYSE_HELP)
BENCH_HELP = "Measure speed, with rivals taking turns in one run."
app.command("lengthlab.commands.bench:bench", name="bench", help=BENCH_HELP)  # imported when it is called for
REPRODUCE_HELP = "Train an experiment's runs, make result tables, draw its figure, judge its claims."
app.command("lengthlab.commands.reproduce:reproduce", name="reproduce", help=REPRODUCE_HELP)
CLAIMS_HELP = "The paper's claims, each with a verdict computed from the result tables."
app.command("lengthlab.commands.claims:claims", name="claims", help=CLAIMS_HELP)
REPORT_HELP = "One self-contained HTML page from the result tables: claims, figures, all seeds, configs."
app.command("lengthlab.commands.report:report", name="report", help=REPORT_HELP)
RUNS_HELP = """List and filter runs, or ask all of them in SQL.

Conditions: lengthlab runs "encoding = 'fire' and exact_match_20 > 0.9"

SQL: lengthlab runs "select encoding, max(exact_match_20) from runs group by all"

Tables: runs, evaluation (a row for each run, weights and length) and metrics (the lines of metrics.jsonl), joined by
id. "describe runs" lists the columns of one. (config->>'$.training.growth')::double is any setting by its dotted name.
"""
COMPARE_HELP = """Compare two groups of runs over their seeds: summaries, difference, permutation test, effect size.

lengthlab compare "encoding = 'fire'" "encoding = 'rope'" --digits 15
"""
app.command("lengthlab.commands.runs:runs", name="runs", help=RUNS_HELP)
app.command("lengthlab.commands.compare:compare", name="compare", help=COMPARE_HELP)


def _lengths(option: str, text: str, lowest: int = 1) -> tuple[int, ...]:
    """A range typed for an option."""
    try:
        return parse_lengths(text, lowest)
    except ValueError as error:
        raise UserError(f"{option}: {error}") from None
