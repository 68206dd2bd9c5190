"""The pages in a real browser: a sum is tried, attention opened, runs followed and compared; on a phone too."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from lengthlab.runs.run import Run

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("web")]  # they share a server and a browser

Server = Any  # of conftest.py


def wait_for(done: Any, seconds: float = 30) -> None:
    """Wait until `done()`, or fail."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.05)


def until(page: Any, expression: str) -> None:
    """Wait until an expression is true in the page, whose policy forbids the usual way: it would need eval there."""
    wait_for(lambda: page.evaluate(expression), seconds=60)


def settled(page: Any) -> None:
    """Wait for the sentence under the sum."""
    until(page, "document.querySelector('#verdict').textContent.length > 0")


def digits(page: Any) -> str:
    """The answer as it stands on the page."""
    return "".join(page.locator(".row.answer .wrote").all_inner_texts())


def test_try_a_sum_and_point_at_a_digit(server: Server, page: Any) -> None:
    page.goto(server.url)
    settled(page)
    assert digits(page) == "058598744" and "All 9 digits are right" in page.inner_text("#verdict")
    assert page.locator(".row.carries span span").count() == 2  # 8 + 8, and 5 + 8 + ... hand one on
    page.fill("#a", "999")
    page.fill("#b", "27")
    page.press("#b", "Enter")
    until(page, "document.querySelectorAll('.row.answer button').length === 4")
    settled(page)
    assert digits(page) == "1026" and "a=999&b=27" in page.url
    page.keyboard.press("Tab")  # the button, then on to the slider and the answer
    page.locator(".row.answer button").last.focus()
    page.keyboard.press("ArrowLeft")
    assert "The tens: 9 + 2 + 1 carried, so 2" in page.inner_text("#digit-title")
    until(page, "document.querySelectorAll('.lines path').length > 0")
    assert "It looked at" in page.inner_text("#looked")
    assert page.locator(":focus").get_attribute("aria-label") == "tens: 2, right"
    page.select_option("#head", "1.0")
    assert "head=1.0&place=1" in page.url
    until(page, "document.querySelectorAll('.lines path').length > 0")  # of the digit that was looked at last
    page.reload()  # every state has a link
    until(page, "document.querySelectorAll('.lines path').length > 0")
    assert digits(page) == "1026" and page.input_value("#head") == "1.0"
    assert page.locator(":focus").get_attribute("aria-label") == "tens: 2, right"


def test_a_digit_stays_chosen_when_the_window_changes(server: Server, page: Any) -> None:
    page.goto(f"{server.url}/try?a=31415926535897932384&b=27182818284590452353&place=1")
    until(page, "document.querySelectorAll('.lines path').length > 0")
    assert page.locator(".block").count() == 1
    page.set_viewport_size({"width": 400, "height": 800})
    until(
        page, "document.querySelectorAll('.block').length === 2 && document.querySelectorAll('.lines path').length > 0"
    )
    assert page.locator(":focus").get_attribute("aria-label") == "tens: 3, right"


def test_a_link_to_a_model_that_is_gone_says_so(server: Server, page: Any) -> None:
    page.goto(f"{server.url}/try?model=ffff0&a=1&b=2")
    settled(page)
    assert "no model ffff0 here; this is the robust model" in page.inner_text("#problem")
    assert "model=robust" in page.url


def test_wrong_digits_show_the_right_one(server: Server, page: Any) -> None:
    """The fragile model breaks soon after its training length: each wrong digit has the right one above it."""
    page.goto(f"{server.url}/try?model=fragile&a={'9' * 30}&b={'8' * 30}")
    settled(page)
    wrong = page.locator(".row.answer button.wrong")
    truth = str(int("9" * 30) + int("8" * 30))
    right = "cell => (cell.querySelector('.due') ?? cell.querySelector('.wrote')).textContent"
    shown = page.locator(".row.answer button").evaluate_all(f"cells => cells.map({right})")
    assert "".join(shown) == truth and wrong.count() > 0
    assert f"{wrong.count()} of 31 digits are wrong" in page.inner_text("#verdict")
    page.fill("#a", "1" * 40)
    page.click("#add")
    page.wait_for_selector("#problem:not([hidden])")
    assert "reads numbers of at most 31 digits" in page.inner_text("#problem")


def shown(page: Any) -> int:
    """Digits that the slider stands at."""
    return int(page.inner_text("#count").split()[0].replace(",", ""))


def test_the_slider_reaches_beyond_training(server: Server, page: Any, heard: Any) -> None:
    page.goto(server.url)
    settled(page)
    page.locator("#digits").focus()
    left: list[int] = []  # digits of the sums whose streams were closed, in this order
    with heard(page, "requestfailed", lambda request: left.append(len(parse_qs(request.url)["a"][0]))):
        page.keyboard.press("End")
        longest = shown(page)
        assert longest >= 100
        page.locator("#digits").fill("24")  # a stop of its list
        settled(page)
    count = shown(page)
    assert [len(page.input_value("#a")), len(digits(page))] == [count, count + 1]
    assert left[:1] == [longest]  # it ended first, half written: nobody waits for it any more
    assert f"The numbers have {count} digits, {count / 10} times" in page.inner_text("#verdict")
    page.click("#chain")
    settled(page)
    assert page.input_value("#a") == "9" * count and digits(page) == "1" + "0" * count


def test_look_inside_two_models(server: Server, page: Any) -> None:
    page.goto(f"{server.url}/look?a=58&b=67")
    until(page, "document.querySelectorAll('.inside .large canvas').length >= 3")  # two with a bias beside
    assert page.locator(".inside").count() == 2 and page.locator(".inside").first.locator(".heads button").count() == 8
    page.get_by_label("Layer 2, head 3").first.click()
    assert "layer=1" in page.url and "head=2" in page.url
    canvas = page.locator(".inside").first.locator(".large canvas").first
    canvas.focus()
    page.keyboard.press("ArrowDown")
    assert "of its answer" in page.locator(".inside").first.locator(".says").inner_text()
    picture = canvas.evaluate(
        "node => new Set(node.getContext('2d').getImageData(0, 0, node.width, node.height).data).size"
    )
    assert picture > 3  # it is drawn


def test_follow_a_live_run_and_draw_it(server: Server, page: Any) -> None:
    page.goto(f"{server.url}/runs")
    page.wait_for_selector("tbody tr")
    assert "7 of 7 runs, 1 active" in page.inner_text("#summary")
    assert page.inner_text("#resume") == f"To resume: {Run(server.runs / 'eeee0').resume_command}"
    status = server.runs / "cccc0" / "status.json"
    status.write_text(json.dumps(json.loads(status.read_text()) | {"step": 19, "steps": 20}))
    metrics = server.runs / "cccc0" / "metrics.jsonl"
    before = metrics.read_text()
    metrics.write_text(before.replace('"step": 20', '"step": 1234'))
    until(page, "document.body.textContent.includes('1,234 / 20')")
    metrics.write_text(before)
    page.get_by_label("Draw run aaaa2").check()
    page.get_by_label("Draw run bbbb0").check()
    until(page, "document.querySelectorAll('#match .series').length === 2")
    assert page.locator("#match .trained").count() == 1 and "chosen=aaaa2%2Cbbbb0" in page.url
    page.locator("#match svg").hover()
    assert "digits" in page.inner_text("#match .tip")
    page.locator("#match .chart").focus()
    page.keyboard.press("End")
    assert page.inner_text("#match .tip").startswith("10 digits")
    page.fill("#search", "bbbb")
    until(page, "document.querySelectorAll('tbody tr').length === 2")
    page.fill("#search", "")
    until(page, "document.querySelectorAll('tbody tr').length === 7")  # or the old search still chooses among these
    page.fill("#condition", "seed_weights = 0")
    page.press("#condition", "Enter")
    until(page, "document.querySelectorAll('tbody tr').length === 2")
    page.get_by_role("button", name="run", exact=True).click()
    assert page.locator("tbody tr a, tbody tr .mono").first.inner_text() == "aaaa0"


def test_a_late_answer_does_not_replace_a_newer_chart(server: Server, page: Any) -> None:
    held: list[Any] = []
    page.route("**/api/curves*", lambda route: held.append(route))
    page.goto(f"{server.url}/runs")
    page.get_by_label("Draw run aaaa2").check()
    page.get_by_label("Draw run bbbb0").check()
    while len(held) < 3:  # one run, then both
        page.wait_for_timeout(20)
    for route in held[1:]:
        route.continue_()
    until(page, "document.querySelectorAll('#match .series').length === 2")
    with page.expect_response("**/api/curves*"):
        held[0].continue_()
    page.wait_for_timeout(100)
    assert page.locator("#match .series").count() == 2


def test_compare_over_seeds(server: Server, page: Any) -> None:
    page.goto(f"{server.url}/compare")
    page.fill("#a", "trained_digits = 3 and state = 'finished'")
    page.fill("#b", "trained_digits = 4")
    page.fill("#digits", "5")
    page.press("#digits", "Enter")
    page.wait_for_selector("#result:not([hidden])")
    assert "at 5 digits" in page.inner_text("#sentence") and page.locator("#dots circle").count() == 5


def test_claims_open_with_their_figure(server: Server, page: Any) -> None:
    page.goto(f"{server.url}/claims?open=fire-best")
    page.wait_for_selector("#fire-best[open] img")
    wait_for(lambda: page.evaluate("document.querySelector('#fire-best img').naturalWidth") > 0)
    assert page.locator("details.claim").count() > 10


SHOWN = {  # what is there when a page is complete
    "/try?a=123456789012345678901234567890&b=5&place=3": "document.querySelectorAll('.lines path').length > 0",
    "/look?a=583&b=672": "document.querySelectorAll('.inside .large canvas').length === 4",
    "/runs?chosen=aaaa0,cccc0": "document.querySelectorAll('#match .series').length === 2",
    "/compare?a=trained_digits=3&b=trained_digits=4&digits=5": "!document.querySelector('#result').hidden",
    "/claims": "document.querySelectorAll('details.claim').length > 10",
}


@pytest.mark.parametrize("path", SHOWN)
def test_usable_on_a_phone(server: Server, page: Any, path: str) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(server.url + path)
    until(page, SHOWN[path])
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    menu = page.locator("nav a").evaluate_all("links => links.map(link => link.getBoundingClientRect().top)")
    assert len(menu) == 6 and len(set(menu)) == 1  # in one line
    maps = page.locator(".large canvas").evaluate_all("maps => maps.map(map => map.getBoundingClientRect().right)")
    assert all(right <= 400 for right in maps)
    nameless = page.locator("main button:visible, main input:visible, main select:visible").evaluate_all(
        "nodes => nodes.filter(node => !(node.labels?.length || node.getAttribute('aria-label') || "
        "node.textContent.trim())).map(node => node.outerHTML)"
    )
    assert nameless == []


SEVERAL_PAIRS = (  # one encoding has weights for all layers, the other for each
    "model={layers: 2, width: 32, heads: 2, feedforward: 32, logit_factor_at_test: 2}",
    "also=[{positions: sequential, encoding: clipped}]",
    "format.hint_order=ring",
    "format.hint_jumps=0.1",
)


@dataclass(frozen=True)
class Demo:
    """A page that the command wrote, and the model in it."""

    page: Path
    adder: Any


def ship_untrained(folder: Path) -> None:
    """A model of several (position ids, encoding) pairs as if it came with the package."""
    import torch

    from lengthlab.batches import Pipeline
    from lengthlab.config.load import load_config
    from lengthlab.export.file import read_facts, save_model
    from lengthlab.model.build import build_model
    from lengthlab.shipped import shipped_file

    config = load_config("zhou2024-mini", SEVERAL_PAIRS)
    vocabulary = Pipeline(config).format.vocabulary.texts
    model = build_model(config, len(vocabulary))
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():  # tables start at zero, where a mistake would not show
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
    save_model(folder / "pairs.safetensors", model, config, vocabulary, read_facts(shipped_file("paper")))


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Demo]:
    """A page for each shipped model, and for one of several pairs."""
    from lengthlab import shipped
    from lengthlab.cli.app import main
    from lengthlab.shipped.adder import find_adder

    def write(name: str) -> Demo:
        out = tmp_path_factory.mktemp("demo") / f"{name}.html"
        with pytest.raises(SystemExit) as end:
            main(["demo", "--out", str(out), "--model", name])
        assert not end.value.code
        return Demo(out, find_adder(name))

    found = {name: write(name) for name in ("robust", "paper")}
    box = tmp_path_factory.mktemp("box")
    ship_untrained(box)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shipped, "FOLDER", box)
        return found | {"pairs": write("pairs")}


def test_the_demo_is_one_file_that_needs_no_network(page: Any, demos: dict[str, Demo]) -> None:
    assert all(demo.page.stat().st_size < 4_000_000 for demo in demos.values())
    page.context.set_offline(True)
    a, b = "7" * 99 + "8", "3" * 100
    page.goto(f"{demos['robust'].page.as_uri()}#a={a}&b={b}&place=50")
    until(page, "document.querySelectorAll('.lines path').length > 0")
    right = "All 101 digits are right" in page.inner_text("#verdict")
    assert digits(page).zfill(101) == str(int(a) + int(b)).zfill(101) and right


@pytest.mark.parametrize("name", ["robust", "paper", "pairs"])
def test_the_demo_computes_what_torch_computes(page: Any, demos: dict[str, Demo], name: str) -> None:
    """On the question as lengthlab writes it, and on the same one with the hints and ids that the page draws."""
    import torch

    model, batch = demos[name].adder.model, demos[name].adder.question("9075312", "84688")
    page.goto(demos[name].page.as_uri())
    settled(page)
    drawn = page.evaluate("lengthlab.question('9075312', '84688')")
    questions = {
        "lengthlab": (batch.inputs[0].tolist(), torch.cat(batch.positions).T.tolist()),
        "the page": (drawn["tokens"], drawn["ids"]),
    }
    for writer, (tokens, ids) in questions.items():
        found = torch.tensor(page.evaluate("([tokens, ids]) => lengthlab.logits(tokens, ids)", [tokens, ids]))
        positions = [torch.tensor([of_pair]) for of_pair in zip(*ids, strict=True)]
        with torch.no_grad():
            expected = model(torch.tensor([tokens]), positions, prompt=batch.answer)[0]
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-5, msg=lambda text, by=writer: f"{by}: {text}")


@pytest.mark.parametrize("name", ["robust", "paper", "pairs"])
def test_the_demo_writes_sums_as_lengthlab_does(page: Any, demos: dict[str, Demo], name: str) -> None:
    """Only what is drawn at random may differ: where the hints begin, and randomized ids."""
    from lengthlab.formats.format import Reading

    adder, pipeline = demos[name].adder, demos[name].adder.pipeline
    first_hint, hints = pipeline.format.vocabulary.first_hint, pipeline.config.format.hints
    page.goto(demos[name].page.as_uri())
    settled(page)
    begun = set()  # where the hints of a sum begin
    for a in range(1000, 1050):
        drawn = page.evaluate(f"lengthlab.question('{a}', '27')")
        columns, batch = drawn["columns"], adder.question(str(a), "27")
        row = [column["token"] for column in columns]
        assert pipeline.format.read(row) == Reading((str(a), "27"), str(a + 27))
        assert drawn["tokens"] == row[: batch.answer]
        assert [column["text"] for column in columns] == [pipeline.format.vocabulary.texts[token] for token in row]
        marks = [column for column in columns if column["role"] == "hint"]
        starts = {(mark["token"] - first_hint - mark["place"]) % hints for mark in marks}  # units have the first
        assert len(starts) == (1 if hints else 0)
        begun |= starts
        given = zip(*drawn["ids"], strict=True)
        for pair, ids, usual in zip(pipeline.config.pairs, given, batch.positions, strict=True):
            if pair.positions.kind == "randomized":
                assert list(ids) == sorted(set(ids)) and set(ids) <= set(range(pair.positions.maximum))
            else:
                assert list(ids) == usual[0].tolist()
    beyond = [start for start in begun if start + 5 > hints]  # four digits and a carry go on with the first hint
    assert not beyond or pipeline.config.format.hint_order == "ring"
    assert beyond or name != "pairs"
