"""What the server answers, endpoint by endpoint."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from lengthlab.export.facts import Score


class Problem(BaseModel):
    """What went wrong, in a sentence."""

    error: str


class Model(BaseModel):
    """A model that can be asked."""

    name: str
    kind: Literal["shipped", "run"]
    title: str
    trained_digits: int
    scores: list[Score]


class ModelDetails(Model):
    """The same with what only its config and weights tell."""

    recipe: str
    longest: int = Field(description="digits that the page offers")
    readable: int = Field(description="digits that its hints and ids can read")
    layers: int
    heads: int
    parameters: int
    told: list[str]
    chosen: str


class Column(BaseModel):
    """A token of the sum and where it stands."""

    text: str
    role: Literal["begin", "separator", "digit", "hint", "end", "filler"]
    number: int = Field(description="0 and 1: the operands; 2: the answer; 3: its carries")
    place: int = Field(description="power of ten; -1 for none")


class Question(BaseModel):
    """A sum as the model reads it; the columns from `answer` on hold what should be written."""

    model: str
    a: str
    b: str
    columns: list[Column]
    answer: int
    trained_digits: int


class Token(BaseModel):
    """One token that the model wrote, with the likeliest ones."""

    column: int
    text: str
    right: bool
    top: list[tuple[str, float]]


class Done(BaseModel):
    """The answer as a whole."""

    answer: str | None
    truth: str
    correct: bool
    milliseconds: float


class Sum(BaseModel):
    """Everything of one sum at once, for programs."""

    question: Question
    tokens: list[Token]
    done: Done


class Bias(BaseModel):
    """What the encoding adds to the logits: bytes from `low` (0) to `high` (255), layers x heads x rows x keys."""

    layers: int
    low: float
    high: float
    data: str


class Attention(BaseModel):
    """Where the model looked as it wrote each token: bytes 0..255 in base64, layers x heads x written x keys."""

    keys: list[str]
    written: list[str]
    due: list[str | None]
    layers: int
    heads: int
    data: str
    bias: Bias | None


class RunRow(BaseModel):
    """A row of the table of runs."""

    id: str
    state: str
    step: int
    steps: int
    title: str
    setting: str
    encoding: str
    positions: str
    seed: str
    trained_digits: int
    started: str | None
    loss: float | None
    message: str | None
    scores: dict[int, float]
    resume: str | None = Field(description="the command that resumes it, if it was cut short")
    asks: bool = Field(description="whether it can be asked for sums")


class RunTable(BaseModel):
    """The runs that meet a condition."""

    runs: list[RunRow]
    total: int
    note: str | None


class Curves(BaseModel):
    """What is drawn for one run."""

    id: str
    title: str
    seed: str
    state: str
    step: int
    steps: int
    trained_digits: int
    scores: list[Score]
    loss: list[tuple[int, float]]
    progress: dict[int, list[tuple[int, float]]] = Field(description="exact match by step, for each length tested")


class Group(BaseModel):
    """One side of a comparison."""

    name: str
    condition: str
    runs: list[str]
    scores: dict[str, float] = Field(description="exact match by seed")
    sentence: str


class Compared(BaseModel):
    """Two groups of runs against each other at one length."""

    digits: int
    groups: list[Group]
    sentence: str
    notes: list[str]


class Claim(BaseModel):
    """A claim of the paper with its verdict."""

    id: str
    sentence: str
    experiment: str
    question: str
    rule: str
    finding: str
    parts: list[dict[str, Any]]
    seeds: str
    figure: str | None
    runs: list[str]


class Claims(BaseModel):
    """All claims, and where their tables come from."""

    folder: str
    claims: list[Claim]
    note: str | None
