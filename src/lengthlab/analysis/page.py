"""The page that `lengthlab analyse` prints: a plain sentence and a small table for each question."""

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from lengthlab.analysis.words import (
    alignment_words,
    carry_words,
    counts_words,
    fifths_words,
    first_words,
    shifts_words,
)
from lengthlab.cli.console import Screen, table
from lengthlab.runs.columns import Row


def print_page(result: dict[str, Any], console: Screen) -> None:
    """Everything, for people who have not read the paper."""
    runs = result["runs"]
    several = len(runs) > 1
    summary = result["average"] or runs[0]["errors"]
    page = Page(console, "lowest - highest" if several else "95% interval", several)
    _heading(page, result, summary)
    if summary["first"]:
        _mistakes(page, summary, runs[0]["order"])
        _examples(page, runs)
    else:
        page.section("No wrong answers")
        longer = round(1.5 * max(runs[0]["digits"]))
        page.say("Every answer was right, so there are no mistakes to look at. If the model can read longer sums, try")
        page.line(f"  lengthlab analyse {' '.join(run['run'] for run in runs)} --digits {longer}")
    _attention(page, result)
    page.section("Files")
    for file in result["files"]:
        page.line(f"  {file}")


class Page:
    """Writes sections to a console."""

    def __init__(self, console: Screen, interval: str, several: bool) -> None:
        self.console = console
        self.interval = interval
        self.several = several

    def section(self, title: str) -> None:
        self.console.say()
        self.console.say(title, "bold")

    def say(self, sentence: str) -> None:
        """Wrapped, even where the output is no terminal."""
        self.console.print(Text(sentence))

    def line(self, text: str | Text) -> None:
        self.console.put(text)

    def shares(self, rows: Sequence[Row], what: str, share: str, base: str | None = None) -> None:
        """A table of measures; `base` heads the column to compare with."""
        made = table("", (what,), (share, self.interval, base) if base else (share, self.interval))
        made.columns[2].style = "dim"
        for row in rows:
            spread = f" ± {row['deviation']:.1%}" if row["deviation"] is not None else ""
            cells = [row["name"], f"{row['share']:.1%}{spread}", f"{row['low']:.1%} - {row['high']:.1%}"]
            if base:
                cells.append("" if row["base"] is None else f"{row['base']:.1%}")
            made.add_row(*cells)
        self.console.print(made)


def _heading(page: Page, result: dict[str, Any], summary: Row) -> None:
    runs = result["runs"]
    first = runs[0]
    if page.several:
        page.line(Text(f"Error analysis of {len(runs)} runs, averaged ({first['weights']} weights)", style="bold"))
    else:
        page.line(Text(f"Error analysis of run {first['run']} ({first['weights']} weights)", style="bold"))
    for run in runs:
        name = f"{run['run']}: " if page.several else ""
        page.console.say(f"{name}{run['model']}; trained on sums of 1-{run['trained']} digits; seed {run['seed']}")
    lengths = " and ".join(map(str, first["digits"]))
    page.say(
        f"The model wrote {first['examples']} answers at {lengths} digits ({result['why_these_digits']}), each token "
        "after its own earlier ones. An answer is wrong if any token is, hints and end included."
    )
    rows = [row | {"name": f"{row['name']} digits"} for row in summary["wrong"]]
    page.shares(rows, "length", "wrong answers")
    if page.several:
        failing = sum(bool(run["errors"]["first"]) for run in runs)
        page.say(
            f"{failing} of {len(runs)} runs gave wrong answers here; what follows is the mean over these, each "
            "counting alike, with the standard deviation and the lowest and highest run."
        )


def _mistakes(page: Page, summary: Row, order: str) -> None:
    page.section("1. What goes wrong first?")
    page.say(first_words(summary))
    page.shares(summary["first"], "first mistake", "wrong answers", "by chance")
    page.section("2. Ends and hints")
    page.say("The same mistakes counted anywhere in a wrong answer, so that one answer can count in several rows.")
    page.shares(summary["marks"], "anywhere in the answer", "wrong answers")
    if not summary["carry"]:
        return
    page.section("3. Are carries to blame?")
    page.say(carry_words(summary["carry"], page.several))
    page.shares(summary["carry"], "digits", "carry coming in")
    page.section("4. Where in the answer?")
    page.say(fifths_words(summary["fifths"], page.several))
    page.shares(summary["fifths"], "part, from the units up", "wrong digits", "all digits")
    page.section("5. How many digits are wrong?")
    page.say(counts_words(summary["counts"], summary["fit"]))
    page.shares(summary["counts"][:8], "wrong digits", "answers with any", "exponential fit")
    if summary["shifts"]:
        page.section("6. Did it read another place?")
        page.say(shifts_words(summary["shifts"], summary["halves"], page.several, order))
        named = [row | {"name": _shift_name(row["name"])} for row in summary["shifts"]]
        halves = [row | {"name": f"one operand {_shift_name(row['name'])}"} for row in summary["halves"]]
        page.shares([*named, *halves], "the digit is that of", "wrong digits", "by chance")
        if not page.several:
            page.say("The intervals treat wrong digits as independent of one another.")


def _shift_name(shift: str) -> str:
    if shift == "0":
        return "its own place, wrong carry"
    places = abs(int(shift))
    return f"{places} {'place' if places == 1 else 'places'} {'higher' if int(shift) > 0 else 'lower'}"


def _examples(page: Page, runs: Sequence[Row]) -> None:
    page.section("Examples")
    page.say("As the model wrote them; ^ marks what is wrong. $ is the end of an answer; letters are hints.")
    run = next(run for run in runs if run["wrong_answers"])
    if page.several:
        page.say(f"They are from run {run['run']}; analysis.json has those of every run.")
    kind = None
    for example in run["wrong_answers"]:
        if example["kind"] != kind:
            kind = example["kind"]
            page.line("")
            page.line(Text(kind, style="cyan"))
        _example(page, example)


def _example(page: Page, example: Row) -> None:
    before = "..." if example["cut"][0] else ""
    after = "..." if example["cut"][1] else ""
    written, marks = Text(f"    written   {before}"), " " * len(f"    written   {before}")
    for token, wrong in zip(example["written"], example["wrong"], strict=True):
        written.append(token, style="bold red" if wrong else "")
        marks += ("^" if wrong else " ").ljust(len(token))
    page.line(f"  {example['sum']}")
    page.line(f"    expected  {before}{''.join(example['expected'])}{after}")
    page.line(written)
    page.line(Text(marks.rstrip(), style="red"))
    page.line(f"    {example['explanation']}")


def _attention(page: Page, result: dict[str, Any]) -> None:
    page.section("Where does the attention go?")
    page.say(
        "To write a digit, the model must find the digits of the same place in the operands. The score is the share of "
        "attention that falls there, for the heads that do this best on training lengths."
    )
    for run in result["runs"]:
        if page.several:
            page.say(f"Run {run['run']}:")
        page.say(alignment_words(run["alignment"], run["trained"]))
        heads = dict.fromkeys(f"layer {layer + 1}, head {head + 1}" for layer, head in run["heads"])
        made = table("", (), ("digits", "exact match", "score", "right digits", "wrong digits", "if even"))
        for row in run["alignment"]:
            cells = [row[key] for key in ("exact_match", "score", "score_of_right", "score_of_wrong", "uniform")]
            texts = ["" if cell is None else f"{cell:.0%}" for cell in cells]
            made.add_row(
                str(row["digits"]),
                *texts,
                style=None if row["digits"] <= run["trained"] else "cyan",
                end_section=row["digits"] == run["trained"],
            )
        made.caption = f"followed: {'; '.join(heads)}; {run['alignment'][0]['examples']} sums each"
        page.console.print(made)
    if "attention" in result:
        page.say(f"The heat maps show {result['attention']['sum']}, {result['attention']['verdict']}.")
    else:
        page.say("Name a single run to draw the attention of every layer and head for one sum.")
