"""One question to a trained model, such as 123+456, and all that can be said of its answer."""

from dataclasses import dataclass
from math import prod

import numpy as np
import torch

from lengthlab.batches import Batch, Pipeline
from lengthlab.config.checks import require_length
from lengthlab.errors import UserError
from lengthlab.evaluation.answers import answers
from lengthlab.formats.vocabulary import up_to_end
from lengthlab.model.transformer import Transformer
from lengthlab.tasks.task import Digits, Task


@dataclass(frozen=True)
class Answer:
    """What the model was asked, what it wrote, and what that means."""

    prompt: str  # as the model read it
    produced: str  # as the model wrote it
    tokens: tuple[str, ...]  # the same, token by token, its end included
    probabilities: tuple[float, ...]  # that the model gave to each of them
    answer: str | None  # as people write it; None if what the model wrote cannot be read
    truth: str
    correct: bool  # as exact match counts it: hints and end included

    @property
    def confidence(self) -> float:
        """The probability that the model gave to all that it wrote."""
        return prod(self.probabilities)

    def __str__(self) -> str:
        said = self.answer if self.answer is not None else f"{''.join(self.tokens)} (cannot be read)"
        return f"{said}, {self.confidence:.1%} sure"


def ask(model: Transformer, pipeline: Pipeline, question: str) -> Answer:
    """What greedy decoding answers to one question."""
    batch = written_question(pipeline, question)
    produced = answers(model, batch).produced[0].tolist()  # a right answer takes one pass, however long
    said = up_to_end(produced)
    vocabulary, row = pipeline.format.vocabulary, batch.tokens[0].tolist()
    reading = pipeline.format.read(row)
    assert reading is not None, "a format must be able to read what it wrote"
    return Answer(
        prompt=vocabulary.text(row[: batch.answer]),
        produced=vocabulary.text(produced),
        tokens=tuple(vocabulary.texts[token] for token in said),
        probabilities=tuple(_probabilities(model, batch, said)),
        answer=pipeline.format.read_answer(produced),
        truth=reading.answer,
        correct=produced == batch.targets[0].tolist(),
    )


def written_question(pipeline: Pipeline, question: str, wanted_by: str = "the longest number") -> Batch:
    """A question as the model reads it."""
    operands = parse_question(pipeline.task, question)
    require_length(pipeline, max(operand.shape[1] for operand in operands), wanted_by)
    return pipeline.question(operands)


def parse_question(task: Task, question: str) -> tuple[Digits, ...]:
    """The operands of a question as digits (1, places), place 0 first."""
    parts = [part.strip() for part in (question.split(task.symbol) if task.symbol else [question])]
    example = task.symbol.join(["123", "45", "6"][: task.operands]) if task.operands <= 3 else "1+2+3+..."
    if len(parts) != task.operands:
        numbers = "one number" if task.operands == 1 else f"{task.operands} numbers"
        raise UserError(f"{question!r} is not a question of {numbers}, such as {example}")
    for part in parts:
        if not (part.isascii() and part.isdigit()):
            raise UserError(f"{part!r} is not a number of decimal digits")
    if task.numeric:
        parts = [part.lstrip("0") or "0" for part in parts]
    rows = [[int(digit) for digit in (part[::-1] if task.numeric else part)] for part in parts]
    return tuple(np.array([row], dtype=np.uint8) for row in rows)


@torch.no_grad()
def _probabilities(model: Transformer, batch: Batch, said: list[int]) -> list[float]:
    """The probability of each token, given the prompt and those before it."""
    tokens, positions = batch.followed_by(said).to(model.device), batch.to(model.device).positions
    logits = model(tokens, positions, first=batch.answer - 1, prompt=batch.answer)[0].float()
    return logits.softmax(-1).gather(-1, torch.tensor(said, device=model.device)[:, None])[:, 0].tolist()
