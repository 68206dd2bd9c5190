"""The page: well-formed, self-contained, accessible, escaped, and true to the tables."""

import csv
import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from lengthlab.claims.load import load_claims
from lengthlab.errors import UserError
from lengthlab.experiments.load import experiment_names, load_experiment
from lengthlab.report.draw import FIGURES
from lengthlab.report.page import ORDER, build
from lengthlab.results import Results, read_table, write_tables

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


def test_settings_say_what_they_change(page: str) -> None:
    article = article_of(page, "index-hints")
    assert "<code>format.hints=0</code>" in article and "<code>encoding.kind=rope</code>" in article
    assert "other settings than the experiment has now" not in page
    assert "checkpoint_every:" in page  # the whole base config is there


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
    assert "1 of the runs were made with other settings" in page
    assert "1 finished of 2 planned runs by length" in page


def test_a_folder_must_have_tables_and_a_scale(tables: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no result tables"):
        build(tmp_path)
    with pytest.raises(UserError, match=r"named after its scale; no scale 'tiny'; choose one of smoke, mini, paper"):
        build(tables(tmp_path / "tiny", ["seeds"], "smoke", step=500))


def test_every_experiment_has_a_figure_and_a_place() -> None:
    assert {load_experiment(name).figure for name in experiment_names()} <= FIGURES.keys()
    assert set(ORDER) == set(experiment_names())


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
