"""The Board page: places as the commands print them, every seed drawn, damaged rows named."""

from pathlib import Path
from typing import Any

import pytest

from lengthlab.board.record import AidLine, BoardRecord, LengthScore, SeedResult, derived, sealed, write_record
from lengthlab.web.board import board_of

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("web")]  # they share a server and a browser


def a_row(name: str, reach: int) -> BoardRecord:
    """Five seeds with all sums right up to `reach` digits and none beyond."""
    scores = [LengthScore(digits=n, examples=500, right=500 if n <= reach else 0) for n in (10, 20, 100, 1000)]
    cost = {"steps": 1600, "examples": 204_800, "tokens": 1, "core_minutes": 4.0, "timing": "processor time"}
    made = {"precision": "float32", "machine": "a processor", "commit": "abc", "scores": scores}
    seeds = [SeedResult.model_validate({"seed": seed, "run": f"{seed:010}", **cost, **made}) for seed in range(1, 6)]
    facts = {"recipe": name, "recipe_sha256": "", "config": "", "made": "2026-11-17", "commit": None}
    facts |= {"trained_digits": 10, "parameters": 500_000, "unaided": False}
    aids = [AidLine(question="ids", sentence="position ids tell each digit's place")]
    return sealed(
        BoardRecord.model_validate({"name": name, "seeds": seeds, "aids": aids, **facts, **derived(seeds, 10)})
    )


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    folder = tmp_path / "results" / "board"
    write_record(folder, a_row("far-recipe", 1000))
    write_record(folder, a_row("near-recipe", 20))
    (folder / "odd.json").write_text("[]")
    return folder


def test_places_are_those_of_the_board(rows: Path) -> None:
    board = board_of(rows)
    assert [record.name for record in board.records] == ["far-recipe", "near-recipe"] and len(board.problems) == 1
    reach, *others = board.tracks
    assert [(one.place, one.value) for one in reach.places] == [
        (1, "1,000 digits or more (100x)"), (2, "20 digits (2x)"),
    ]  # fmt: skip
    assert [[one.name for one in track.places] for track in others] == [[], ["far-recipe"], ["far-recipe"], []]
    assert board_of(rows.parent / "nothing").records == []


def test_the_page_shows_tracks_and_every_seed(rows: Path, server: Any, page: Any) -> None:
    assert server.get("/api/board")[0] == 200
    answer = board_of(rows).model_dump_json()
    page.route("**/api/board*", lambda route: route.fulfill(body=answer, content_type="application/json"))
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(f"{server.url}/board?open=far-recipe")
    page.wait_for_selector("#far-recipe[open] svg")
    assert page.locator("#far-recipe .series").count() == 5
    assert page.locator("section").count() == 5 and "odd.json" in page.inner_text("#problem")
    assert "position ids tell" in page.locator(".given").first.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.locator("section a").nth(1).click()
    page.wait_for_selector("#near-recipe[open] svg")
    assert "open=near-recipe" in page.url
