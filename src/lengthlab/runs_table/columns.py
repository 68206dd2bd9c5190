"""The columns of the table `runs`, and where a config keeps what stands in them.

No name is a reserved word of SQL (`digit_order` for `format.order`), so that conditions need no quotes around columns.
"""

from dataclasses import dataclass
from typing import Any, Literal

SqlType = Literal["VARCHAR", "BIGINT", "DOUBLE", "TIMESTAMP", "JSON", "MAP(VARCHAR, DOUBLE)"]
CONSTANTS = (
    "NaN",
    "Infinity",
    "-Infinity",
)  # numbers that JSON lacks are read as these texts; SQL takes them as numbers


@dataclass(frozen=True)
class Column:
    """One column; `path` is its dotted place in config.yaml, and a config without a needed one is not understood."""

    name: str
    type: SqlType
    path: str = ""
    needed: bool = False


SETTINGS = (
    Column("task", "VARCHAR", "task.kind", needed=True),
    Column("format", "VARCHAR", "format.kind", needed=True),
    Column("digit_order", "VARCHAR", "format.order"),
    Column("hints", "BIGINT", "format.hints"),
    Column("spaces", "DOUBLE", "format.spaces.probability"),
    Column("positions", "VARCHAR", "positions.kind", needed=True),
    Column("encoding", "VARCHAR", "encoding.kind", needed=True),
    Column("also", "VARCHAR"),
    Column("layers", "BIGINT", "model.layers", needed=True),
    Column("width", "BIGINT", "model.width", needed=True),
    Column("feedforward", "BIGINT", "model.feedforward"),
    Column("heads", "BIGINT", "model.heads", needed=True),
    Column("dropout", "DOUBLE", "model.dropout"),
    Column("mask", "VARCHAR", "model.mask"),
    Column("optimizer", "VARCHAR", "training.optimizer.kind", needed=True),
    Column("rate", "DOUBLE", "training.optimizer.rate"),
    Column("weight_decay", "DOUBLE", "training.optimizer.weight_decay"),
    Column("batch", "BIGINT", "training.batch"),
    Column("trained_digits", "BIGINT", "training.digits", needed=True),
    Column("steps", "BIGINT", "training.steps", needed=True),
)
SEEDS = (
    Column("seed_weights", "BIGINT", "seeds.weights", needed=True),
    Column("seed_data", "BIGINT", "seeds.data", needed=True),
    Column("seed_sampling", "BIGINT", "seeds.sampling", needed=True),
)
RUNS = (
    Column("id", "VARCHAR"),
    Column("state", "VARCHAR"),
    Column("step", "BIGINT"),  # how far it has come; `steps` is how far it should
    *SETTINGS,
    *SEEDS,
    Column("parameters", "BIGINT"),
    Column(
        "setting", "VARCHAR"
    ),  # a hash of the config but for these seeds: the same for runs that differ only in them
    Column("started", "TIMESTAMP"),
    Column("ended", "TIMESTAMP"),
    Column("minutes", "DOUBLE"),  # from the start to the end, pauses of a resumed run included
    Column("final_loss", "DOUBLE"),
    Column("final_accuracy", "DOUBLE"),  # of the next token, in training
    Column("message", "VARCHAR"),
    Column("config", "JSON"),  # every setting: (config->>'$.training.growth')::double
    Column("weights", "VARCHAR"),  # those that the columns exact_match_N, which follow, belong to
)


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    return is_whole(value) or isinstance(value, float) or value in CONSTANTS


_FITS = {"VARCHAR": lambda value: isinstance(value, str), "BIGINT": is_whole, "DOUBLE": is_number}


def settings_of(config: dict[str, Any]) -> dict[str, Any]:
    """The settings and seeds of a config, by column; ValueError names what is missing or of another kind."""
    row: dict[str, Any] = {}
    for column in (*SETTINGS, *SEEDS):
        value: Any = config if column.path else None
        for key in column.path.split(".") if column.path else ():
            value = value.get(key) if isinstance(value, dict) else None
        if value is None and column.needed:
            raise ValueError(f"no {column.path}")
        if value is not None and not _FITS[column.type](value):
            raise ValueError(f"{column.path} is {value!r}")
        row[column.name] = value
    row["also"] = _pairs(config.get("also"))
    return row


def _pairs(also: Any) -> str | None:
    """Further (positions, encoding) pairs in short: "sequential rope"."""
    try:
        return ", ".join(f"{pair['positions']['kind']} {pair['encoding']['kind']}" for pair in also or ()) or None
    except (TypeError, KeyError):
        raise ValueError("also is no list of pairs") from None
