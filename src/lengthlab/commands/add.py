"""`lengthlab add`: ask a trained model for a sum."""

from dataclasses import dataclass

import numpy as np

from lengthlab.errors import UserError
from lengthlab.evaluation.decode import decode
from lengthlab.evaluation.load import load_model
from lengthlab.runs import Run
from lengthlab.tasks.task import Digits


@dataclass(frozen=True)
class Answer:
    """What the model was asked, what it wrote, and what that means."""

    prompt: str
    produced: str
    answer: str | None  # None if what it wrote is not a number
    truth: str
    correct: bool


def ask(run: Run, numbers: tuple[str, ...]) -> Answer:
    """Greedy decoding of one question."""
    operands = parse_numbers(numbers)
    model, pipeline = load_model(run)
    if pipeline.task.symbol != "+" or pipeline.task.operands != 2:
        raise UserError(f"run {run.id} was not trained to add two numbers")
    pipeline.require(max(operand.shape[1] for operand in operands), "the longer number")
    batch = pipeline.question(operands)
    produced = decode(model, batch)[0].tolist()
    vocabulary = pipeline.format.vocabulary
    reading = pipeline.format.read(batch.tokens[0].tolist())
    assert reading is not None, "a format must be able to read what it wrote"
    answer = pipeline.format.read_answer(produced)
    prompt = vocabulary.text(batch.tokens[0, : batch.answer].tolist())
    correct = produced == batch.targets[0].tolist()  # as exact match counts it: hints and end included
    return Answer(prompt, vocabulary.text(produced), answer, reading.answer, correct)


def parse_numbers(numbers: tuple[str, ...]) -> tuple[Digits, ...]:
    """Decimal strings as digits (1, places), units first."""
    for number in numbers:
        if not (number.isascii() and number.isdigit()):
            raise UserError(f"{number!r} is not a number of decimal digits")
    plain = [number.lstrip("0") or "0" for number in numbers]
    return tuple(np.array([[int(digit) for digit in number[::-1]]], dtype=np.uint8) for number in plain)
