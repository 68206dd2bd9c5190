"""Scores at each length, by hand and against each other."""

from collections.abc import Callable

import pytest
import torch

from lengthlab.batches import Batch, Pipeline
from lengthlab.config.schema import Config
from lengthlab.evaluation.answers import Answers
from lengthlab.evaluation.exact_match import evaluate, exact_match, examples_of, summary
from lengthlab.evaluation.examples import Example
from lengthlab.model.build import build_model
from lengthlab.statistics import wilson


def test_splitting_for_memory_changes_no_score(smoke: Callable[..., Config], monkeypatch: pytest.MonkeyPatch) -> None:
    config = smoke("format.hints=0", "training.digits=1")
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary)).eval()
    whole = evaluate(model, pipeline, [1, 2], 100)
    monkeypatch.setattr("lengthlab.evaluation.answers.NUMBERS_AT_ONCE", 1)
    assert evaluate(model, pipeline, [1, 2], 100) == whole


def vocabulary_row(pipeline: Pipeline, text: str) -> list[int]:
    return pipeline.format.vocabulary.tokens(text)


def test_scores_of_known_answers(smoke: Callable[..., Config]) -> None:
    """By hand, for 5+7=12 and 9+9=18, units first: the first right, the second with a wrong unit and no end."""
    pipeline = Pipeline(smoke("format.hints=0"))
    rows = [vocabulary_row(pipeline, text) for text in ("^50+70=21$", "^90+90=81$")]
    layout = pipeline.samples(1, 2)[1].layout
    batch = Batch(torch.tensor(rows), (torch.arange(10)[None],), 7, layout)
    produced = torch.tensor([vocabulary_row(pipeline, text) for text in ("21$", "711")])
    forced = torch.tensor([vocabulary_row(pipeline, text) for text in ("21$", "71$")])
    first, second = examples_of(1, 0, batch, Answers(produced, forced), pipeline.format.vocabulary)
    assert first == Example(1, 0, True, 3, 3, 2, 2, True)
    assert second == Example(1, 1, False, 2, 3, 1, 2, False, "^90+90=", "81$", "711")
    row = summary([first, second])
    assert (row.exact_match, row.digit_accuracy, row.token_accuracy, row.length_accuracy) == (0.5, 0.75, 5 / 6, 0.5)
    assert (row.low, row.high) == (row.length_low, row.length_high) == wilson(1, 2)


def test_exact_match_alone_says_the_same_as_all_scores(smoke: Callable[..., Config]) -> None:
    config = smoke("format.hints=0", "training.digits=1")
    pipeline = Pipeline(config)
    model = build_model(config, len(pipeline.format.vocabulary)).train()
    quick = exact_match(model, pipeline, [1, 2], 50)
    full = evaluate(model, pipeline, [1, 2], 50)
    assert [(row.exact_match, row.low) for row in quick] == [(row.exact_match, row.low) for row in full]
    assert model.training
