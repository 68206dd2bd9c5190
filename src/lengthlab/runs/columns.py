"""What is known of a run, column by column: the one list behind the SQL table `runs` and the file trials.csv.

A column has one name and one meaning in both. Three are spelt otherwise in trials.csv, whose header is fixed: `id` is
`run` there, `step` (how far training has come) is `steps`, and `digit_order` is `order`, a reserved word of SQL.
"""

from dataclasses import dataclass
from reprlib import repr as shortened
from typing import Any, Literal

Row = dict[str, Any]  # a row of any table, by column
SqlType = Literal["VARCHAR", "BIGINT", "DOUBLE", "TIMESTAMP", "JSON", "MAP(VARCHAR, DOUBLE)"]


@dataclass(frozen=True)
class Column:
    """One column. `path` is its place in config.yaml; a config without a `needed` one is not understood."""

    name: str
    type: SqlType
    path: str = ""
    needed: bool = False
    csv: str | None = None  # its name in trials.csv; None if it is not there


def _setting(name: str, type_: SqlType, path: str, csv: str | None = "", needed: bool = False) -> Column:
    return Column(name, type_, path, needed, csv if csv != "" else name)


SETTINGS = (
    _setting("task", "VARCHAR", "task.kind", csv=None, needed=True),
    _setting("encoding", "VARCHAR", "encoding.kind", needed=True),  # with those of `also`: "learned + fire"
    _setting("positions", "VARCHAR", "positions.kind", needed=True),  # likewise
    _setting("format", "VARCHAR", "format.kind", needed=True),
    _setting("hints", "BIGINT", "format.hints"),
    _setting("digit_order", "VARCHAR", "format.order", csv="order"),
    _setting("spaces", "DOUBLE", "format.spaces.probability"),
    _setting("mask", "VARCHAR", "model.mask"),
    _setting("layers", "BIGINT", "model.layers", needed=True),
    _setting("width", "BIGINT", "model.width", needed=True),
    _setting("feedforward", "BIGINT", "model.feedforward"),
    _setting("heads", "BIGINT", "model.heads", needed=True),
    Column("parameters", "BIGINT", csv="parameters"),  # from the shapes in model.safetensors
    _setting("dropout", "DOUBLE", "model.dropout"),
    _setting("optimizer", "VARCHAR", "training.optimizer.kind", csv=None, needed=True),
    _setting("weight_decay", "DOUBLE", "training.optimizer.weight_decay"),
    _setting("rate", "DOUBLE", "training.optimizer.rate"),
    _setting("batch", "BIGINT", "training.batch", csv=None),
    _setting("trained_digits", "BIGINT", "training.digits", needed=True),
    _setting("steps", "BIGINT", "training.steps", csv=None, needed=True),  # planned
)
SEEDS = tuple(
    _setting(f"seed_{kind}", "BIGINT", f"seeds.{kind}", needed=True) for kind in ("weights", "data", "sampling")
)
RUNS = (
    Column("id", "VARCHAR", csv="run"),
    Column("state", "VARCHAR", csv="state"),  # from status.json
    Column("recipe", "VARCHAR"),  # the recipe that it was started from
    *SETTINGS,
    Column("step", "BIGINT", csv="steps"),  # done so far
    Column("examples", "BIGINT", csv="examples"),  # trained on, from metrics.jsonl
    Column("tokens", "BIGINT", csv="tokens"),
    *SEEDS,
    Column("seconds", "DOUBLE", csv="seconds"),  # of training, at the median speed: pauses do not count
    Column("final_loss", "DOUBLE", csv="final_loss"),  # mean over the last tenth of the logged steps
    Column("final_accuracy", "DOUBLE"),  # of next tokens, at the last logged step
    Column("machine", "VARCHAR", csv="machine"),  # the processor, from environment.json
    Column("setting", "VARCHAR"),  # a hash of the config without its seeds: what runs of one setting share
    Column("started", "TIMESTAMP"),
    Column("ended", "TIMESTAMP"),
    Column("message", "VARCHAR"),
    Column("config", "JSON"),  # every setting: (config->>'$.training.growth')::double
    Column("weights", "VARCHAR"),  # those that the columns exact_match_N, which follow, belong to
)
TRIALS = {column.csv: column for column in RUNS if column.csv is not None}  # the columns of trials.csv, by name there


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number that a database can hold."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def is_number(value: Any) -> bool:
    return is_whole(value) or isinstance(value, float)


_FITS = {"VARCHAR": lambda value: isinstance(value, str), "BIGINT": is_whole, "DOUBLE": is_number}


def flat(section: Row, path: str = "") -> Row:
    """Every setting of a nested mapping by its dotted name.

    >>> flat({"model": {"layers": 3}, "also": []})
    {'model.layers': 3, 'also': []}
    """
    found: Row = {}
    for name, value in section.items():
        found |= flat(value, f"{path}{name}.") if isinstance(value, dict) else {f"{path}{name}": value}
    return found


def settings_of(config: Row) -> Row:
    """The settings and seeds of a config, by column; ValueError names what is missing or of another kind."""
    row = {column.name: _look_up(config, column) for column in (*SETTINGS, *SEEDS) if column.path}
    try:
        for pair in config.get("also") or ():
            for axis in ("encoding", "positions"):
                row[axis] += f" + {pair[axis]['kind']}"
    except (TypeError, KeyError):
        raise ValueError("also is not a list of pairs") from None
    return row


def _look_up(config: Row, column: Column) -> Any:
    value: Any = config
    for key in column.path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    if value is None and column.needed:
        raise ValueError(f"no {column.path}")
    if value is not None and not _FITS[column.type](value):
        raise ValueError(f"{column.path} is {shortened(value)}")
    return value
