"""Models in the box: whole, small, and able to do what their cards say."""

import pytest

from lengthlab.cli.ship import LARGEST
from lengthlab.export.file import read_facts
from lengthlab.shipped import DEFAULT, FOLDER, shipped_file, shipped_names
from lengthlab.shipped.adder import Adder, find_adder


@pytest.fixture(scope="module", params=shipped_names())
def adder(request: pytest.FixtureRequest) -> Adder:
    return find_adder(request.param)


def test_the_default_comes_with_the_package() -> None:
    assert shipped_names()[0] == DEFAULT and "paper" in shipped_names()


@pytest.mark.parametrize("name", shipped_names())
def test_small_and_with_a_card(name: str) -> None:
    facts, card = read_facts(shipped_file(name)), (FOLDER / f"{name}.md").read_text()
    assert shipped_file(name).stat().st_size <= LARGEST + 20_000  # the head beside the numbers
    assert facts.chosen in card and all(sentence in card for sentence in facts.told)
    assert any(run.run == facts.run for run in facts.tried) and facts.scores


def test_does_what_its_card_says(adder: Adder) -> None:
    """At the training length, on the test problems themselves: the same share of right answers."""
    from lengthlab.evaluation.exact_match import exact_match

    name = adder.name.split()[-1]
    facts = read_facts(shipped_file(name))
    claimed = {score.digits: score for score in facts.scores}[facts.trained_digits]
    (row,) = exact_match(adder.model, adder.pipeline, [facts.trained_digits], claimed.examples)
    assert row.exact_match == pytest.approx(claimed.exact_match, abs=2.5 / claimed.examples)  # processors round apart


def test_adds(adder: Adder) -> None:
    answer = adder.ask("31415926", "27182818")
    assert answer.correct and answer.answer == "58598744"


def test_says_how_long_it_can_read(adder: Adder) -> None:
    from lengthlab.errors import UserError

    assert adder.ask("9" * min(adder.longest, 40), "1").truth == "1" + "0" * min(adder.longest, 40)
    with pytest.raises(UserError, match=f"reads numbers of at most {adder.longest} digits"):
        adder.ask("1" * (adder.longest + 1), "1")
