"""LengthBoard on the page: every track with its places, and every row with all its seeds."""

from pathlib import Path

from fastapi import FastAPI
from pydantic import BaseModel

from lengthlab.board.record import BoardRecord, read_board
from lengthlab.board.tracks import TRACKS, standings


class RankedRow(BaseModel):
    """A row's place in a track, with what counts there."""

    place: int
    name: str
    value: str


class BoardTrack(BaseModel):
    """A track, the best row first."""

    name: str
    title: str
    rule: str
    places: list[RankedRow]


class Board(BaseModel):
    """All tracks, all sound rows, and what is wrong with the rest."""

    folder: str
    tracks: list[BoardTrack]
    records: list[BoardRecord]
    problems: list[str]


def board_of(folder: Path) -> Board:
    """The rows of a folder, as `lengthlab board` shows them."""
    records, problems = read_board(folder)
    tracks = [
        BoardTrack(
            name=track.name,
            title=track.title,
            rule=track.rule,
            places=[
                RankedRow(place=one.place, name=one.record.name, value=one.value) for one in standings(track, records)
            ],
        )
        for track in TRACKS
    ]
    return Board(folder=str(folder), tracks=tracks, records=records, problems=problems)


def add_board(app: FastAPI, folder: Path) -> None:
    @app.get("/api/board")
    def board() -> Board:
        """Records of length generalization."""
        return board_of(folder)
