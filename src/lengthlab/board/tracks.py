"""The tracks of the board, and the rank of each row in them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lengthlab.board.record import BoardRecord

TRAINED = (10, 40)  # digits: the training lengths that have records
TEN = 10  # times the training length


@dataclass(frozen=True)
class Track:
    """`value` is what is compared, None for rows that do not compete; `more` says whether more of it is better."""

    name: str
    title: str
    rule: str
    value: Callable[[BoardRecord], float | None]
    text: Callable[[BoardRecord], str]
    more: bool = False


@dataclass(frozen=True)
class Standing:
    """A row's place in a track; rows with equal values share it."""

    place: int
    record: BoardRecord
    value: str


def _reach_from(trained: int) -> Callable[[BoardRecord], float | None]:
    return lambda record: record.reach if record.trained_digits == trained and record.reach else None


def _at_ten(value: Callable[[BoardRecord], float]) -> Callable[[BoardRecord], float | None]:
    return lambda record: value(record) if record.times >= TEN else None


def reach_text(record: BoardRecord) -> str:
    """
    Such as "100 digits (2.5x)"; "or more" where no seed failed at any length tested.
    """
    more = " or more" if record.open_end else ""
    return f"{record.reach:,} digits{more} ({record.times:g}x)"


REACH = "the longest tested length with 99% or more on every one of at least 5 seeds, all shorter ones included"
TRACKS = (
    *(
        Track(f"reach-{trained}", f"Reach from 1-{trained} digits", REACH, _reach_from(trained), reach_text, more=True)
        for trained in TRAINED
    ),
    Track(
        "core-minutes",
        "Fewest core-minutes to ten times the length",
        "training time of one seed on one core, the mean over seeds, of rows that reach 10 times their training length",
        _at_ten(lambda record: record.core_minutes),
        lambda record: f"{record.minutes} core-minutes",
    ),
    Track(
        "parameters",
        "Fewest parameters to ten times the length",
        "trained numbers of rows that reach 10 times their training length",
        _at_ten(lambda record: record.parameters),
        lambda record: f"{record.parameters:,} parameters",
    ),
    Track(
        "no-aids",
        "No aids",
        "reach in times the training length, told nothing by code: no ids, symbols or logits chosen for the problem",
        lambda record: record.times or None if record.unaided else None,
        reach_text,
        more=True,
    ),
)


def standings(track: Track, records: Sequence[BoardRecord]) -> list[Standing]:
    """All rows that compete, the best first; equal values share a place, in the order of their days and names."""
    competing = [(value, record) for record in records if record.ranked and (value := track.value(record)) is not None]
    sign = -1 if track.more else 1
    competing.sort(key=lambda pair: (sign * pair[0], pair[1].made, pair[1].name))
    values = [value for value, _ in competing]
    return [Standing(1 + values.index(value), record, track.text(record)) for value, record in competing]


def track_named(name: str) -> Track:
    return next(track for track in TRACKS if track.name == name)


def fastest(records: Sequence[BoardRecord]) -> BoardRecord | None:
    """The record of the track core-minutes, if there is one."""
    found = standings(track_named("core-minutes"), records)
    return found[0].record if found else None
