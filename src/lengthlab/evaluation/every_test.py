"""Every test that was made of a run, from its rows of examples: uniform sums, carry chains, symmetric sums, factors."""

import sys
from collections.abc import Callable
from typing import Any

from lengthlab.evaluation.exact_match import summary
from lengthlab.evaluation.examples import ExampleFile
from lengthlab.runs.files import read_rows
from lengthlab.runs.run import Run
from lengthlab.runs.seal import digest_of

MEASURED = ("digits", "examples", "exact_match", "low", "high")


def every_test(run: Run, note: Callable[[str], None]) -> list[dict[str, Any]]:
    """Exact match of the last weights at every length of every test; `note` hears of what is left out."""
    found = []
    for file in sorted(run.examples.glob("last*.jsonl")):
        lines, _ = read_rows(file)
        header = lines[0] if lines else {}
        if header.get("sha256") != digest_of(run.weights):
            note(f"{file}: of other weights, left out")
            continue
        choices = dict(choice.split("=") for choice in header["choices"])
        factor = choices.get("model.logit_factor_at_test", run.config.model.logit_factor_at_test)
        test = "carry chain" if header["chain"] else choices.get("evaluation.operands", "uniform")
        kept = ExampleFile(file, header, note)
        rows = [summary(kept.first(digits, sys.maxsize)) for digits in kept.lengths if kept.first(digits, 1)]
        named = {"test": test, "factor": float(factor or 1)}
        found += [named | {name: getattr(row, name) for name in MEASURED} for row in rows]
    return found
