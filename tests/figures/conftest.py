"""Settings with made-up but plausible rows, the same each time."""

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

from lengthlab.analysis.names import SUMS
from lengthlab.figures.data import Seed, Setting

ENCODINGS = {"RoPE": 1.1, "KerpleLog": 1.3, "NoPE": 1.5, "FIRE": 2.2}


def make_setting(label: str, reach: float = 1.6, trained: int = 10, seeds: int = 5, **parts: str) -> Setting:
    """A setting whose seeds fall off at about `reach` times the training length."""
    return Setting(label, trained, [make_seed(label, seed, reach, trained) for seed in range(1, seeds + 1)], **parts)


def make_seed(label: str, seed: int, reach: float, trained: int) -> Seed:
    draw = random.Random(f"{label} {seed}")
    half = trained * reach * draw.uniform(0.75, 1.25)
    lengths = range(1, int(2.5 * trained) + 1)

    def score(digits: int, learned: float = 1.0) -> float:
        return learned / (1 + math.exp((digits - half) / (0.06 * trained)))

    exact_match = [
        {"digits": digits, "examples": 100, "exact_match": score(digits), "low": score(digits) * 0.9, "high": 1.0}
        for digits in lengths
    ]
    takeoff = draw.uniform(400, 1200)
    training, evolution = [], []
    for step in range(50, 4001, 50):
        learned = 1 / (1 + (takeoff / step) ** 6)
        loss = 2.3 * (1 - learned) + 1e-4 * draw.uniform(0.2, 3)
        training.append({"step": step, "loss": loss, "accuracy": 0.3 + 0.7 * learned})
        if step % 200 == 0:
            evolution += [
                {"step": step, "digits": digits, "exact_match": score(digits, learned) * draw.uniform(0.8, 1)}
                for digits in (trained, int(1.5 * trained), 2 * trained)
            ]
    errors = make_errors(draw, int(1.5 * trained))
    facts = {"final_loss": training[-1]["loss"]}
    return Seed(seed, exact_match, training, evolution, errors, facts)


def make_errors(draw: random.Random, digits: int) -> list[dict[str, Any]]:
    """Rows of the error analysis, shares that add up where they should."""
    ratio = draw.uniform(0.1, 0.4)
    measures: dict[str, dict[str, float]] = {
        "carry": {"wrong digits": draw.uniform(0.4, 0.6), "all digits at the same places": 0.48},
        "counts": {str(wrong): (1 - ratio) * ratio ** (wrong - 1) for wrong in range(1, 10)},
        "places": {str(place): draw.random() / 10 for place in range(digits + 1)},
        "marks": {"ends too early": draw.random() / 2, "does not end": 0.1, "wrong hint": 0.2, "wrong digit": 0.9},
        "shifts base": dict.fromkeys(("-3", "-2", "-1", "0", "+1", "+2", "+3"), 0.11),
    }
    measures["shifts"] = {key: draw.uniform(0.05, 0.3) for key in measures["shifts base"]}
    fifths = ("lowest fifth", "second fifth", "middle fifth", "fourth fifth", "highest fifth")
    measures["fifths"] = {fifth: draw.uniform(0.1, 0.3) for fifth in fifths}
    measures["fifths base"] = dict.fromkeys(fifths, 0.2)
    measures["sums"] = dict.fromkeys(SUMS, draw.random())
    return [
        {"digits": digits, "examples": 100, "wrong": 40, "measure": measure, "key": key, "value": value}
        for measure, shares in measures.items()
        for key, value in shares.items()
    ]


@pytest.fixture
def setting() -> Callable[..., Setting]:
    return make_setting


@pytest.fixture
def encodings() -> list[Setting]:
    return [make_setting(label, ENCODINGS[label], panel=label) for label in ("NoPE", "FIRE")]


@pytest.fixture
def with_and_without() -> list[Setting]:
    return [
        make_setting(f"{label}, {variant}", reach * factor, panel=label, variant=variant)
        for label, reach in list(ENCODINGS.items())[2:]
        for variant, factor in (("with index hints", 1.0), ("without", 0.5))
    ]
