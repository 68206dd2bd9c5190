"""What a scale is, and the levels that several experiments share.

The tested lengths, the training length and the model of a scale are those of its base recipe, which an experiment may
replace. The paper tailors position ids to each encoding, so its FIRE is FIRE with randomized ids; `ids` says which ids
each encoding has at a scale, and why.
"""

import json
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

ScaleName = Literal["smoke", "mini", "laptop", "paper"]
SCALE_NAMES: tuple[ScaleName, ...] = get_args(ScaleName)
Settings = dict[str, Any]  # dotted settings, such as {"format.hints": 0}


@dataclass(frozen=True)
class Scale:
    """A base recipe with its default seeds; `flops` and `start` (seconds) are for estimates only."""

    recipe: str
    seeds: str
    overrides: Settings
    randomized: Settings
    ids: str
    device: str
    flops: float
    start: float
    recipe_ids: Settings | None = None  # of the paper's recipe among the systems; randomized ids if not given
    tuned: dict[str, Settings] = field(default_factory=dict)  # what an encoding needs in order to learn here


CORE = {"device": "core", "flops": 58e9, "start": 6.0}  # measured: LOG.md, 2026-11-17, 3 layers of width 128, fp32
GPU = {"device": "GPU", "flops": 60e12, "start": 60.0}  # an assumption: a fifth of an A100's bf16 peak

SCALES: dict[ScaleName, Scale] = {
    "smoke": Scale(
        recipe="smoke",
        seeds="1-2",
        overrides={"positions": "sequential"},
        randomized={"positions": {"kind": "randomized", "maximum": 256}},
        ids="all encodings have ids in sequence: nothing is learned here",
        **CORE,
    ),
    "mini": Scale(
        recipe="experiment-mini",
        seeds="1-5",
        overrides={},
        randomized={"positions": {"kind": "randomized", "maximum": 128}},
        ids="all encodings have ids in sequence, including FIRE, which learned more slowly with randomized ids "
        "(LOG.md, 2026-11-16)",
        **CORE,
    ),
    "laptop": Scale(
        recipe="experiment-laptop",
        seeds="1-6",
        overrides={},
        randomized={"positions": {"kind": "randomized", "maximum": 512}},
        recipe_ids={},  # its base has them
        tuned={
            "RoPE": {"encoding.share": 0.5, "training.mastery.start": 6},
            "KerpleLog": {"training.mastery.start": 6},
            "NoPE": {"training.mastery.start": 6},
        },
        ids="FIRE has randomized ids, as in the paper; the others have ids in sequence, except Abacus and position "
        "coupling, whose ids tell each digit's place. Every encoding, including NoPE, is combined with a clipped bias "
        "on ids in sequence, which tells the three preceding tokens apart: without it RoPE and NoPE learned nothing "
        "within this budget (LOG.md, 2026-11-17). What is compared is therefore what each adds to that bias. RoPE "
        "rotates half of each head",
        device="core",
        flops=42e9,  # of width 64: by the median of 249 runs
        start=6.0,
    ),
    "paper": Scale(
        recipe="zhou2024",
        seeds="1-10",
        overrides={},
        randomized={"positions": {"kind": "randomized", "maximum": 2048}},  # the paper leaves the maximum open
        ids="FIRE has randomized ids, which the paper found to help it; the others have ids in sequence. The paper "
        "leaves open whether its RoPE and KerpleLog had random spaces, which help them a little; here they have none",
        **GPU,
    ),
}


def as_overrides(settings: Settings) -> list[str]:
    """Settings as the command line takes them."""
    return [f"{key}={json.dumps(value)}" for key, value in settings.items()]


def levels(scale: ScaleName) -> dict[str, Settings]:
    """Levels that experiments name without spelling them out. The base is FIRE, reversed, with hints."""
    here, in_sequence = SCALES[scale], {"positions": "sequential"}
    return {
        **{
            name: settings | here.tuned.get(name, {})
            for name, settings in {
                "RoPE": {"encoding": "rope", **in_sequence},
                "KerpleLog": {"encoding": "kerple-log", **in_sequence},
                "NoPE": {"encoding": "none", **in_sequence},
                "FIRE": {"encoding": "fire"},
            }.items()
        },
        "ids of the recipe": here.randomized if here.recipe_ids is None else here.recipe_ids,
        "hints": {},
        "no hints": {"format.hints": 0},
        "reversed": {},
        "standard order": {"format.order": "standard"},
        "no spaces": {},
        "random spaces": {"format.spaces.probability": 0.1},  # the paper leaves the probability open
        "ids in sequence": in_sequence,
        "randomized ids": here.randomized,
    }
