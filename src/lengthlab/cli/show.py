"""`lengthlab show`: examples as the model reads them."""

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from lengthlab.cli.console import Screen, print_json
from lengthlab.cli.parameters import Json, Overrides, Recipe, Seed, at_least, with_seed

if TYPE_CHECKING:
    from lengthlab.config.schema import Config


def show(
    recipe: Recipe,
    /,
    *overrides: Overrides,
    digits: Annotated[int, Parameter(help="Length of the operands.")] = 3,
    examples: Annotated[int, Parameter(help="How many to show.")] = 2,
    seed: Seed = None,
    as_json: Json = False,
) -> None:
    """Show examples as the model reads them.

    Under each token: its place (power of ten), its position ids, and whether
    the loss counts it.
    """
    from lengthlab.config.load import load_config

    config = load_config(recipe, with_seed(overrides, seed))
    at_least(1, 10_000, digits=digits, examples=examples)
    shown = _examples(config, digits, examples)
    if as_json:
        print_json(shown)
    else:
        _print(shown)


def _examples(config: "Config", digits: int, examples: int) -> list[dict[str, Any]]:
    """Training problems of a length: tokens, and for each its place, its ids and whether the loss counts it."""
    from lengthlab.batches import Pipeline
    from lengthlab.config.checks import require_length
    from lengthlab.formats.vocabulary import PAD

    pipeline = Pipeline(config)
    require_length(pipeline, digits, "--digits", training=True)
    written, batch = pipeline.samples(digits, examples)
    place = written.layout.place
    described = []
    for index, row in enumerate(written.tokens.tolist()):
        reading = pipeline.format.read(row)
        assert reading is not None, "a format must be able to read what it wrote"
        described.append(
            {
                "problem": f" {pipeline.task.symbol} ".join(reading.operands) + f" = {reading.answer}",
                "tokens": [pipeline.format.vocabulary.texts[token] for token in row],
                "place": place[index % len(place)].tolist(),
                "ids": {
                    f"{pair.positions.kind} ids -> {pair.encoding.kind}": ids[index % len(ids)].tolist()
                    for pair, ids in zip(config.pairs, batch.positions, strict=True)
                },
                "loss": [column >= batch.answer and token != PAD for column, token in enumerate(row)],
            }
        )
    return described


def _print(described: list[dict[str, Any]]) -> None:
    """Tokens in columns, with what belongs to each beneath it; long examples in several blocks."""
    console = Screen()
    for example in described:
        lines = {
            "tokens": example["tokens"],
            "place": ["" if place < 0 else str(place) for place in example["place"]],
            **{name: list(map(str, ids)) for name, ids in example["ids"].items()},
            "loss": ["*" if counted else "" for counted in example["loss"]],
        }
        width = max(len(cell) for cells in lines.values() for cell in cells)
        label = max(map(len, lines))
        columns = max(1, (console.width - label - 3) // (width + 1)) if console.is_terminal else len(lines["tokens"])
        console.put(example["problem"])
        for start in range(0, len(lines["tokens"]), columns):
            for name, cells in lines.items():
                row = " ".join(f"{cell:>{width}}" for cell in cells[start : start + columns])
                console.put(f"  {name:<{label}}  {row}".rstrip())
            console.put()
    console.say("place: the power of ten of a digit or hint.  loss: * marks the tokens that the model must predict.")
