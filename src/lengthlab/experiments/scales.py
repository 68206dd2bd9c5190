"""What a scale is, and the levels that several experiments share.

The tested lengths, the training length and the model of a scale are those of its base recipe.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

ScaleName = Literal["smoke", "mini", "paper"]
SCALE_NAMES: tuple[ScaleName, ...] = get_args(ScaleName)
Settings = dict[str, Any]  # dotted settings, such as {"format.hints": 0}


@dataclass(frozen=True)
class Scale:
    """A base recipe with its default seeds; `flops` and `start` (seconds) are for estimates only."""

    recipe: str
    seeds: str
    overrides: Settings
    randomized: Settings
    device: str
    flops: float
    start: float


CORE = {"device": "core", "flops": 35e9, "start": 6.0}  # as measured for 3 layers of width 128, fp32
GPU = {"device": "GPU", "flops": 60e12, "start": 60.0}  # an assumption: a fifth of an A100's bf16 peak

SCALES: dict[ScaleName, Scale] = {
    "smoke": Scale(
        recipe="smoke",
        seeds="1-2",
        overrides={"positions": "sequential"},
        randomized={"positions": {"kind": "randomized", "maximum": 256}},
        **CORE,
    ),
    "mini": Scale(
        recipe="experiment-mini",
        seeds="1-5",
        overrides={},
        randomized={"positions": {"kind": "randomized", "maximum": 128}},
        **CORE,
    ),
    "paper": Scale(
        recipe="zhou2024",
        seeds="1-10",
        overrides={"positions": "sequential"},
        randomized={"positions": {"kind": "randomized", "maximum": 2048}},  # the paper leaves the maximum open
        **GPU,
    ),
}


def levels(scale: ScaleName) -> dict[str, Settings]:
    """Levels that experiments name without spelling them out. The base is reversed, with hints, ids in sequence."""
    return {
        "RoPE": {"encoding": "rope"},
        "KerpleLog": {"encoding": "kerple-log"},
        "NoPE": {"encoding": "none"},
        "FIRE": {"encoding": "fire"},
        "hints": {},
        "no hints": {"format.hints": 0},
        "reversed": {},
        "standard order": {"format.order": "standard"},
        "no spaces": {},
        "random spaces": {"format.spaces.probability": 0.1},  # the paper leaves the probability open
        "ids in sequence": {},
        "randomized ids": SCALES[scale].randomized,
    }
