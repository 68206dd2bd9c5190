"""The aid ledger follows from the config, and is true of the ids that batches have."""

import numpy as np
import pytest

from lengthlab.batches import Pipeline
from lengthlab.config.aids import NOTHING_OUTSIDE, QUESTIONS, aid_sentences, aids
from lengthlab.config.load import load_config
from lengthlab.config.presets import recipe_names
from lengthlab.positions import POSITIONS


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        (
            "coupling-relative-robust",
            [
                "position ids tell each digit's place",
                "attention logits are multiplied by 8 at test",
                "numbers are written units first",
                "zeros in front make the numbers equally long",
                NOTHING_OUTSIDE,
            ],
        ),
        (
            "zhou2024",
            [
                "training meets position ids that only longer problems need",
                "102 index hints mark the places, and no more",
                "numbers are written units first",
                "zeros in front make the numbers equally long",
                NOTHING_OUTSIDE,
            ],
        ),
        (
            "abacus-mini",
            [
                "position ids tell each digit's place",
                "training meets position ids that only longer problems need",
                "a table of 64 positions, and no more",
                "numbers are written units first",
                "zeros in front make the numbers equally long",
                NOTHING_OUTSIDE,
            ],
        ),
    ],
)
def test_the_ledger_of_known_recipes(recipe: str, expected: list[str]) -> None:
    assert aid_sentences(load_config(recipe)) == expected


@pytest.mark.parametrize("recipe", recipe_names())
def test_every_recipe_has_a_ledger_in_order(recipe: str) -> None:
    questions = [QUESTIONS.index(aid.question) for aid in aids(load_config(recipe))]
    assert questions == sorted(questions) and questions[-1] == QUESTIONS.index("outside")


def test_a_model_can_be_told_nothing() -> None:
    plain = load_config("smoke", ["format={hints: 0, order: standard, padding: none}", "positions=sequential"])
    assert aid_sentences(plain) == [NOTHING_OUTSIDE]
    settings = ["model.logit_factor_at_test=2", "model.log_scaling=fixed", "format.kind=scratchpad", "format.hints=0"]
    assert len(aids(load_config("smoke", settings))) == 7


@pytest.mark.parametrize("kind", POSITIONS.names())
def test_what_the_ledger_says_of_ids_is_what_they_do(kind: str) -> None:
    scheme = POSITIONS[kind].load()
    pipeline = Pipeline(load_config("smoke", [f"positions={kind}", "format.hints=0"]))
    drawn = [pipeline.training_batches(step, 3)[0] for step in range(40)]
    beyond = max(int(batch.positions[0].max()) for batch in drawn) > pipeline.columns(3)
    assert scheme.beyond_length == beyond
    layout, ids = drawn[0].layout, drawn[0].positions[0].numpy()[0]
    units = ids[np.flatnonzero(layout.place[0] == 0)]  # of both operands and the answer
    assert len(units) == 3 and scheme.from_places == (len(set(units.tolist())) == 1)
