"""Whether what is published follows from the tables it stands on: every number and verdict is computed again.

    members, trials, exact_match ...csv  ->  scores fit their intervals, runs fit together
                                         ->  the page of today, without pictures  =  report.html

No weights are needed, so anybody can do it. Pictures and the text around the numbers are not compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import zip_longest
from pathlib import Path

from lengthlab.errors import UserError
from lengthlab.paper.claims import load_claims
from lengthlab.paper.tables import COLUMNS, Results, read_table
from lengthlab.report.page import build
from lengthlab.statistics import wilson

PAGE = "report.html"
SIX_DIGITS = 2e-6  # how far two numbers of six digits may lie apart
PUBLISHED = ("claims", "seeds")  # the tables of the page that hold numbers


@dataclass
class Verified:
    """What was computed again, and what came out otherwise."""

    runs: int = 0
    scores: int = 0
    verdicts: int = 0  # on the page, with `rows` of numbers and captions; none if there is no page
    rows: int = 0
    differences: list[str] = field(default_factory=list)


def verify(folder: Path) -> Verified:
    """Compute everything that `folder` publishes from its tables."""
    results = Results(folder)
    if not results.experiments():
        raise UserError(f"{folder}: no result tables; lengthlab reproduce all --scale mini makes some")
    found = Verified()
    scores = read_table(folder, "exact_match")
    found.runs, found.scores = len(read_table(folder, "trials")), len(scores)
    found.differences += [*_of_runs(folder, results), *_of_scores(scores)]
    if found.differences:  # they would only show again, less plainly
        return found
    page = folder / PAGE
    if page.exists():
        published = Published.of(page.read_text(encoding="utf-8", errors="replace"))
        present = set(results.experiments())
        found.verdicts = sum(claim.experiment in present for claim in load_claims().values())
        found.rows = len(published)
        found.differences += _of_pages(published, Published.of(build(folder, drawn=False)))
    return found


def _of_runs(folder: Path, results: Results) -> Iterator[str]:
    """Every run of an experiment is in trials.csv, and no table has a run that no experiment has."""
    members = {member.run for name in results.experiments() for member in results.members(name)}
    trials = {row["run"] for row in read_table(folder, "trials")}
    yield from (f"members.csv: run {run} is not in trials.csv" for run in sorted(members - trials))
    for table in COLUMNS.keys() - {"members"}:
        strangers = {row["run"] for row in read_table(folder, table)} - members
        yield from (f"{table}.csv: run {run} belongs to no experiment" for run in sorted(strangers))


def _of_scores(rows: list[dict]) -> Iterator[str]:
    """A score is a whole number of its sums, with the Wilson interval of these."""
    for row in rows:
        where = f"exact_match.csv: run {row['run']}, {row['digits']} digits"
        if None in (row[name] for name in ("exact_match", "examples", "low", "high")):
            yield f"{where}: a number is missing"
            continue
        correct = row["exact_match"] * row["examples"]
        if abs(correct - round(correct)) > SIX_DIGITS * row["examples"]:
            yield f"{where}: {row['exact_match']:g} is no whole number of {row['examples']} sums"
            continue
        for name, end in zip(("low", "high"), wilson(round(correct), row["examples"]), strict=True):
            if abs(row[name] - end) > SIX_DIGITS:
                yield f"{where}: {name} is {row[name]:g}, computed again {end:.6g}"


def _of_pages(published: list[str], computed: list[str]) -> Iterator[str]:
    for old, new in zip_longest(published, computed, fillvalue="nothing"):
        if old != new:
            yield f"{PAGE}: {old!r}, computed again {new!r}"


class Published(HTMLParser):
    """The page's findings, the rows of its tables of numbers, its summary, and what its pictures are said to show."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside = False  # of a table of numbers
        self.listing = False  # within a list of verdicts
        self.words: list[str] | None = None  # of the row or fact being read

    @classmethod
    def of(cls, page: str) -> list[str]:
        parser = cls()
        parser.feed(page)
        return parser.found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag == "table":
            self.inside = known.get("class") in PUBLISHED
        elif tag == "ul":
            self.listing = known.get("class") == "verdicts"
        elif tag == "dd" or (tag == "tr" and self.inside) or (tag == "li" and self.listing):
            self.words = []
        elif tag == "img":
            self.found.append(known.get("alt") or "")

    def handle_data(self, data: str) -> None:
        if self.words is not None:
            self.words += data.split()

    def handle_endtag(self, tag: str) -> None:
        ends = tag in ("dd", "tr") or (tag == "li" and self.listing)
        if ends and self.words is not None:
            self.found.append(" ".join(self.words))
            self.words = None
