"""The page: well-formed, self-contained, accessible, escaped, and true to the tables."""

import csv
import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from lengthlab.errors import UserError
from lengthlab.paper.claims import load_claims
from lengthlab.paper.experiment import experiment_names, load_experiment
from lengthlab.paper.scales import SCALES
from lengthlab.paper.tables import Results, read_table, write_tables
from lengthlab.report.page import build, build_own
from lengthlab.report.tables import sums_met_twice
from lengthlab.runs.run import Run

pytestmark = pytest.mark.xdist_group("web")  # they share a page with the tests in a browser
VOID = {"meta", "img", "br", "hr", "link", "input"}


class Reader(HTMLParser):
    """Collects what the tests ask about; unbalanced tags are an error."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text += data if self.open[-1:] != ["style"] else ""

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_well_formed_and_accessible(page: str) -> None:
    reader = Reader(page)
    ids = Counter(attributes["id"] for _, attributes in reader.tags if "id" in attributes)
    assert not [name for name, times in ids.items() if times > 1]
    assert reader.all("html")[0]["lang"] == "en"
    images = reader.all("img")
    assert len(images) == 3 and all(len(image["alt"] or "") > 60 for image in images)
    assert all(header.get("scope") for header in reader.all("th"))
    levels = [int(tag[1]) for tag, _ in reader.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1 and all(after <= before + 1 for before, after in pairwise(levels))
    for _, attributes in reader.tags:
        for name in ("aria-labelledby", "href"):
            target = (attributes.get(name) or "").removeprefix("#")
            assert not target or target in ids, f"{name}={target} leads nowhere"


def test_nothing_is_fetched(page: str) -> None:
    for tag, attributes in Reader(page).tags:
        assert tag not in {"script", "link", "iframe", "object"}
        for name in ("src", "href", "srcset", "action"):
            assert (attributes.get(name) or "#").startswith(("#", "data:image/svg+xml;base64,"))
    assert not re.search(r"url\(|@import", page)


def test_every_run_is_on_the_page_with_its_numbers(page: str, results: Path) -> None:
    tables = Results(results)
    for name in tables.experiments():
        article = page.partition(f'<article id="{name}"')[2].partition("</article>")[0]
        for member in tables.members(name):
            assert f"<code>{member.run}</code>" in article
        assert f"lengthlab reproduce {name} --scale smoke" in article
        assert load_experiment(name).question in Reader(article_of(page, name)).text
    assert "data order" in article_of(page, "init-vs-order") and "data order" not in article_of(page, "index-hints")
    member = tables.members("index-hints")[0]
    first = tables.exact_match(member.run)[0]
    assert f'{100 * first["exact_match"]:g} <span class="interval">' in article_of(page, "index-hints")


def article_of(page: str, name: str) -> str:
    (article,) = re.findall(rf'<article id="{name}".*?</article>', page, flags=re.DOTALL)
    return article


def test_claims_have_a_word_and_a_sign(page: str) -> None:
    text = Reader(page).text
    for claim in load_claims().values():
        assert (claim.sentence in text) == (claim.experiment in {"index-hints", "init-vs-order", "errors"})
    marks = re.findall(r'class="mark [\w-]+"><span class="sign" aria-hidden="true">(.)</span> ([\w ]+)</span>', page)
    assert marks and set(marks) <= {("✓", "holds"), ("✗", "does not hold"), ("?", "not enough evidence")}


def test_scores_of_short_sums_say_that_training_has_met_some(tmp_path: Path) -> None:
    trial = {"run": "a", "trained_digits": 10, "examples": 81_000}
    rows = [{"run": "a", "weights": "last", "chain": 0, "digits": digits} for digits in (1, 2, 3, 4)]
    member = {"experiment": "seeds", "setting": "FIRE", "seed": 1, "run": "a"}
    write_tables(tmp_path, {"members": [member], "trials": [trial], "exact_match": rows})
    results = Results(tmp_path)
    said = sums_met_twice(results.members("seeds"), results)
    assert "about 100% at 1, 63% at 2, 1% at 3 digits, or more" in said
    write_tables(tmp_path, {"exact_match": rows[3:]})
    results = Results(tmp_path)
    assert sums_met_twice(results.members("seeds"), results) == ""


def test_settings_say_what_they_change(page: str) -> None:
    article = article_of(page, "index-hints")
    assert "<code>format.hints=0</code>" in article and "<code>encoding.kind=rope</code>" in article
    assert "settings that the experiment no longer has" not in page
    assert "checkpoint_every:" in page  # the whole base config is there
    assert SCALES["smoke"].ids in Reader(page).text


def test_the_same_tables_give_the_same_page(page: str, results: Path) -> None:
    assert build(results) == page


def test_alternative_text_tells_the_finding(page: str, results: Path) -> None:
    (image,) = Reader(article_of(page, "index-hints")).all("img")
    finding = r"FIRE, hints: median \d+%, best \d+% at \d+ digits \(trained on 1-\d+, n = 2 seeds\)"
    assert re.search(finding, image["alt"] or "")


def test_hostile_labels_are_text(tables: Callable[..., Path], tmp_path: Path) -> None:
    folder = tables(tmp_path / "smoke", ["encodings"], "smoke", step=500)
    evil = '<script>alert("x")</script>"><img src=x onerror=alert(1)> $\\frac$'
    renamed = {table: read_table(folder, table) for table in ("members", "trials")}
    renamed["members"] = [row | {"setting": evil, "experiment": "../my own <i>"} for row in renamed["members"]]
    renamed["trials"] = [row | {"machine": evil} for row in renamed["trials"]]
    write_tables(folder, renamed)
    page = build(folder, tmp_path / "figures")
    assert len(list((tmp_path / "figures").iterdir())) == 3  # and not beside it
    reader = Reader(page)
    assert [article["id"] for article in reader.all("article")] == ["my-own-i"]
    assert not reader.all("script") and not reader.all("i") and len(reader.all("img")) == 1
    assert evil in reader.text and "my own <i>" in reader.text


def test_runs_of_another_recipe_are_told_and_missing_ones_counted(tables: Callable[..., Path], tmp_path: Path) -> None:
    folder = tables(tmp_path / "smoke", ["seeds"], "smoke", step=500)
    found = {table: read_table(folder, table) for table in ("members", "trials", "exact_match")}
    kept = found["members"][:1]
    for rows in found.values():
        rows[:] = [row | {"run": "0123456789"} for row in rows if row["run"] == kept[0]["run"]]
    write_tables(folder, found)
    page = build(folder)
    assert "1 of these runs used settings that the experiment no longer has" in page
    assert "1 finished of 2 planned runs by length" in page


def test_a_folder_must_have_tables_and_may_have_any_name(tables: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no result tables"):
        build(tmp_path)
    page = build(tables(tmp_path / "tiny", ["seeds"], "smoke", step=500))
    assert "lengthlab reproduce seeds --scale smoke" in page  # known by its runs


def test_findings_come_first_and_tables_last(page: str) -> None:
    places = [page.index(mark) for mark in ('id="findings"', "<img", '<table class="claims"', 'class="strip"')]
    assert places == sorted(places)


def test_runs_of_ones_own(make_run: Callable[..., Path], tmp_path: Path) -> None:
    for seed in (1, 2):
        make_run(f"aa{seed}", {2: 1.0, 4: 0.25 * seed}, {"seeds.weights": seed})
    make_run("bb", {2: 1.0, 4: 0.0}, {"encoding": {"kind": "rope"}})
    runs = [Run.find(name) for name in ("aa1", "aa2", "bb")]
    reader = Reader(build_own(runs))
    assert "FIRE, randomized ids: median 38%, best 50% at 4 digits (trained on 1-3, n = 2 seeds)." in reader.text
    assert "RoPE, randomized ids" in reader.text and "lengthlab report aa1 aa2 bb" in reader.text
    assert [article["id"] for article in reader.all("article")] == ["runs"] and "reproduce" not in reader.text
    with pytest.raises(UserError, match="named twice"):
        build_own([runs[0], runs[0]])
    make_run("cc")
    with pytest.raises(UserError, match="run cc has no evaluation yet"):
        build_own([Run.find("cc")])


def test_a_demo_is_shut_in(tables: Callable[..., Path], tmp_path: Path) -> None:
    folder = tables(tmp_path / "smoke", ["seeds"], "smoke", step=500)
    (frame,) = Reader(build(folder, demo='<p title="x">1 & 2</p>')).all("iframe")
    assert frame["srcdoc"] == '<p title="x">1 & 2</p>' and frame["sandbox"] == "allow-scripts"


def test_chapters_follow_the_order_of_the_experiments(page: str) -> None:
    chapters = [article["id"] for article in Reader(page).all("article")]
    assert chapters == [name for name in experiment_names() if name in chapters] and len(chapters) == 3


def test_the_command(
    lengthlab: Callable[..., tuple[int, str, str]], tables: Callable[..., Path], tmp_path: Path
) -> None:
    folder = tables(tmp_path / "smoke", ["seeds"], "smoke", step=500)
    out = tmp_path / "page.html"
    status, said, _ = lengthlab("report", "--results", str(folder), "--out", str(out), "--figures", str(tmp_path / "f"))
    assert status == 0 and said.startswith(str(out))
    assert out.read_text().startswith("<!DOCTYPE html>")
    assert sorted(file.name for file in (tmp_path / "f").iterdir()) == ["seeds.pdf", "seeds.png", "seeds.svg"]
    status, _, error = lengthlab("report", "--results", str(tmp_path / "mini"), "--out", str(out))
    assert status == 2 and f"no folder {tmp_path / 'mini'}; there is {folder}" in error
    status, _, error = lengthlab("report", "--results", str(folder), "--out", str(tmp_path / "no" / "page.html"))
    assert status == 2 and "--out: no folder" in error


def test_tables_with_a_column_missing_are_refused(tables: Callable[..., Path], tmp_path: Path) -> None:
    folder = tables(tmp_path / "smoke", ["seeds"], "smoke", step=500)
    with (folder / "trials.csv").open("w", newline="") as file:
        csv.writer(file).writerow(["run"])
    with pytest.raises(UserError, match=r"trials\.csv: no column state"):
        build(folder)
