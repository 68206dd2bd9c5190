"""What to call runs where people read: FIRE, randomized ids, seed 1; not by slugs and hashes."""

from collections.abc import Sequence

from lengthlab.runs.columns import Row
from lengthlab.runs.groups import differences

PRINTED = {  # as papers print them; other encodings go by their own names
    "none": "NoPE",
    "fire": "FIRE",
    "rope": "RoPE",
    "t5": "T5 bias",
    "alibi": "ALiBi",
    "hard-alibi": "hard ALiBi",
    "kerple-log": "KerpleLog",
    "kerple-power": "KerplePower",
    "cope": "CoPE",
    "shaw": "Shaw",
    "clipped": "clipped bias",
    "learned": "learned embedding",
    "sinusoidal": "sinusoidal embedding",
}
MOST = 2  # differences that a label has room for


def setting_labels(configs: Sequence[Row], recipes: Sequence[str]) -> list[str]:
    """A label for each config: its encodings and ids, and a few more settings where those do not tell it apart.

    Where they come from several recipes, each begins with the name of its own.

    >>> fire = {"encoding": {"kind": "fire"}, "positions": {"kind": "randomized"}, "training": {"steps": 500}}
    >>> setting_labels([fire, fire | {"training": {"steps": 900}}], ["mini", "mini"])
    ['FIRE, randomized ids, steps 500', 'FIRE, randomized ids, steps 900']
    >>> setting_labels([fire, fire | {"training": {"steps": 900}}], ["mini", "quick"])
    ['mini, FIRE, randomized ids', 'quick, FIRE, randomized ids']
    """
    labels = [
        f"{recipe}, {system_name(config)}" if recipe else system_name(config)
        for config, recipe in zip(configs, _distinguishing(configs, recipes), strict=True)
    ]
    varying = [name for name in (differences(configs) or [{}])[0] if name not in ("encoding", "positions")]
    settings = [[f"{name.rpartition('.')[2]} {row[name]}" for name in varying] for row in differences(configs)]
    same = {label for label in labels if len({repr(configs[i]) for i in _indices(labels, label)}) > 1}
    return [
        ", ".join([label, *more[:MOST]]) if label in same else label
        for label, more in zip(labels, settings, strict=True)
    ]


def run_labels(configs: Sequence[Row], ids: Sequence[str], recipes: Sequence[str]) -> list[str]:
    """The same for single runs: with the seed of the weights, and with the id where even that is not enough."""
    settings = setting_labels([_without_seeds(config) for config in configs], recipes)
    labels = [f"{label}, seed {config['seeds']['weights']}" for label, config in zip(settings, configs, strict=True)]
    return [f"{label} ({run})" if labels.count(label) > 1 else label for label, run in zip(labels, ids, strict=True)]


def _distinguishing(configs: Sequence[Row], recipes: Sequence[str]) -> list[str]:
    """The recipe of each config; empty for all if that tells nothing apart.

    Seeds of one setting may have been started from its recipe and from a file of another name: the first counts.
    """
    named: dict[str, str] = {}
    for config, recipe in zip(configs, recipes, strict=True):
        named[repr(config)] = named.get(repr(config)) or recipe
    several = len(set(named.values())) > 1
    return [named[repr(config)] if several else "" for config in configs]


def system_name(config: Row) -> str:
    """Its pairs of encoding and ids; ids in sequence go without saying."""
    parts = []
    for pair in (config, *config.get("also", ())):
        encoding, ids = pair["encoding"]["kind"], pair["positions"]["kind"]
        silent = ids == "sequential" or encoding == "none"
        parts.append(PRINTED.get(encoding, encoding) + ("" if silent else f", {ids} ids"))
    return " + ".join(parts)


def _without_seeds(config: Row) -> Row:
    return {name: part for name, part in config.items() if name != "seeds"}


def _indices(labels: Sequence[str], label: str) -> list[int]:
    return [index for index, other in enumerate(labels) if other == label]
