"""`lengthlab bench evaluate`: how long greedy answers to many long sums take, ours and others'.

The models are untrained and their end token is switched off, so every answer has full length and costs what a trained
model's would. A model that is right is had by taking its own greedy answers for the truth; one that is always wrong by
taking others.
"""

import multiprocessing
import resource
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import Any

import torch
from rich.table import Table
from torch import Tensor

from lengthlab.batches import Batch, Pipeline
from lengthlab.bench.contestant import take_turns
from lengthlab.bench.rivals import llama, x_transformers
from lengthlab.cli.console import table
from lengthlab.config.checks import require_length
from lengthlab.config.load import load_config
from lengthlab.evaluation.answers import answers, decode, rows_at_once
from lengthlab.formats.vocabulary import END
from lengthlab.model.build import build_model, keep_freed_memory
from lengthlab.model.transformer import Transformer
from lengthlab.runs.environment import cpu_name

MOSTLY = 0.95  # share of right answers of a model that is mostly right
UNCACHED_ROWS = 2  # decoding without a cache is slow: it is timed on this many sums


def bench_evaluate(recipe: str, lengths: Sequence[int], rows: int, repeats: int, threads: int) -> dict[str, Any]:
    """Seconds for 1,000 sums of each length; every contestant answers `rows` sums in each turn."""
    torch.set_num_threads(threads)
    tables = {digits: _one_length(recipe, digits, rows, repeats) for digits in lengths}
    return {"machine": cpu_name(), "threads": threads, "recipe": recipe, "rows": rows, "lengths": tables}


def _one_length(recipe: str, digits: int, rows: int, repeats: int) -> list[dict[str, Any]]:
    model, pipeline = _model(recipe, digits)
    asked = _questions(pipeline, digits, rows)
    own = decode(model, asked)
    right = _with_answers(asked, own, rows)
    mostly = _with_answers(asked, own, round(MOSTLY * rows))
    wrong = _with_answers(asked, own, 0)
    few = asked.rows(0, UNCACHED_ROWS)
    rivals = _rivals(model, len(pipeline.format.vocabulary), asked)
    contestants: dict[str, tuple[int, Callable[[], object]]] = {
        "lengthlab, all answers right": (rows, lambda: answers(model, right)),
        f"lengthlab, {MOSTLY:.0%} right": (rows, lambda: answers(model, mostly)),
        "lengthlab, all wrong": (rows, lambda: answers(model, wrong)),
        "lengthlab, cached decoding": (rows, lambda: decode(model, asked)),
        "lengthlab, no cache": (UNCACHED_ROWS, lambda: _uncached(model, few)),
        **{name: (rows, call) for name, call in rivals.items()},
    }
    timings = take_turns({name: call for name, (_, call) in contestants.items()}, repeats)
    fastest = min(timings[name].median for name in rivals) / rows
    found = []
    for name, (count, _) in contestants.items():
        timing, scale = timings[name], 1000 / count
        found.append(
            {
                "name": name,
                "seconds": timing.median * scale,
                "low": timing.low * scale,
                "high": timing.high * scale,
                "ratio": fastest / (timing.median / count),
            }
        )
    return found


def _model(recipe: str, digits: int) -> tuple[Transformer, Pipeline]:
    keep_freed_memory()
    config = load_config(recipe, [f"evaluation.digits={digits}"])
    pipeline = Pipeline(config)
    require_length(pipeline, digits, "--digits")
    model = build_model(config, len(pipeline.format.vocabulary)).eval()
    _never_end(model.output)
    return model, pipeline


@torch.no_grad()
def _never_end(output: torch.nn.Linear) -> None:
    """Give the end token the mean logit of the digits, so that one of them always outdoes it."""
    output.weight[END] = output.weight[:10].mean(dim=0)


def _questions(pipeline: Pipeline, digits: int, rows: int) -> Batch:
    """The first test problems of a length, all with the position ids of the first of them."""
    batches = [batch for _, batch in pipeline.test_batches(digits, rows)]
    positions = tuple(ids[:1] for ids in batches[0].positions)
    return replace(batches[0], tokens=torch.cat([batch.tokens for batch in batches]), positions=positions)


def _with_answers(asked: Batch, own: Tensor, right: int) -> Batch:
    """The questions with the model's own answers as the truth for the first `right` rows, others for the rest."""
    tokens = asked.tokens.clone()
    tokens[:, asked.answer :] = own
    tokens[right:, asked.answer :] = (own[right:] + 1) % 10
    return replace(asked, tokens=tokens)


@torch.no_grad()
def _uncached(model: Transformer, asked: Batch) -> Tensor:
    tokens = asked.tokens[:, : asked.answer]
    while tokens.shape[1] < asked.tokens.shape[1]:
        token = model(tokens, asked.positions, first=tokens.shape[1] - 1, prompt=asked.answer).argmax(-1)
        tokens = torch.cat([tokens, token], dim=1)
    return tokens


def _rivals(model: Transformer, vocabulary: int, asked: Batch) -> dict[str, Callable[[], object]]:
    """Others' cached greedy decoding, at the same shape, on the same questions."""
    from x_transformers import AutoregressiveWrapper

    columns, options = asked.tokens.shape[1], model.options
    prompts, wanted = asked.tokens[:, : asked.answer].contiguous(), columns - asked.answer
    wrapper = AutoregressiveWrapper(x_transformers(options, vocabulary, columns)[0]).eval()
    hugging = llama(options, vocabulary, columns)[0].eval()

    def generate_x_transformers() -> object:
        return wrapper.generate(prompts, wanted, temperature=0.0, cache_kv=True)

    @torch.no_grad()
    def generate_transformers() -> object:
        mask = torch.ones_like(prompts)
        generate: Any = hugging.generate
        return generate(prompts, attention_mask=mask, max_new_tokens=wanted, do_sample=False, use_cache=True)

    return {"x-transformers generate": generate_x_transformers, "transformers generate": generate_transformers}


def bench_lengths(recipe: str, lengths: Sequence[int], threads: int) -> list[dict[str, Any]]:
    """Seconds and memory for one sum of each length when it is right and when it is wrong, each in its own process."""
    found = []
    for digits in lengths:
        for right in (True, False):
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as child:
                cost = child.submit(one_sum, recipe, digits, right, threads).result()
            found.append({"digits": digits, "right": right, **cost})
    return found


def one_sum(recipe: str, digits: int, right: bool, threads: int) -> dict[str, float]:
    """Seconds for a sum, and the most memory that this process ever had, torch itself included."""
    torch.set_num_threads(threads)
    model, pipeline = _model(recipe, digits)
    rows = rows_at_once(model, pipeline.columns(digits))
    asked = _questions(pipeline, digits, min(8, rows))
    truth = _with_answers(asked, decode(model, asked), len(asked.tokens) if right else 0)
    started = time.perf_counter()
    answers(model, truth)
    seconds = (time.perf_counter() - started) / len(asked.tokens)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"seconds": seconds, "memory_bytes": memory}


def tables(result: dict[str, Any]) -> list[Table]:
    """The result for people, a table for each length."""
    views = []
    for digits, rows in result["lengths"].items():
        title = f"Greedy answers to 1,000 sums of {digits} digits ({result['recipe']}, {result['rows']} at once)"
        view = table(title, ("",), ("seconds", "quartiles", "to fastest rival"))
        for row in rows:
            spread = f"{row['low']:,.1f} - {row['high']:,.1f}"
            view.add_row(row["name"], f"{row['seconds']:,.1f}", spread, f"{row['ratio']:.2f}x")
        view.caption = f"{result['machine']}, {result['threads']} thread(s)"
        views.append(view)
    return views
