"""Settings with made-up but plausible rows, the same each time."""

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

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
    for step in range(20, 4001, 20):
        learned = 1 / (1 + (takeoff / step) ** 6)
        loss = 2.3 * (1 - learned) + 1e-4 * draw.uniform(0.2, 3)
        training.append({"step": step, "loss": loss, "accuracy": 0.3 + 0.7 * learned})
        if step % 200 == 0:
            evolution += [
                {"step": step, "digits": digits, "exact_match": score(digits, learned) * draw.uniform(0.8, 1)}
                for digits in (trained, int(1.5 * trained), 2 * trained)
            ]
    facts = {"final_loss": training[-1]["loss"]}
    return Seed(seed, exact_match, training, evolution, (), facts)


@pytest.fixture
def setting() -> Callable[..., Setting]:
    return make_setting


@pytest.fixture
def four_encodings() -> list[Setting]:
    return [make_setting(label, reach, panel=label) for label, reach in ENCODINGS.items()]


@pytest.fixture
def with_and_without() -> list[Setting]:
    return [
        make_setting(f"{label}, {variant}", reach * factor, panel=label, variant=variant)
        for label, reach in ENCODINGS.items()
        for variant, factor in (("with index hints", 1.0), ("without", 0.5))
    ]


Drawer = Callable[..., Any]
