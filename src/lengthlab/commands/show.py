"""`lengthlab show`: examples as the model reads them."""

from typing import Any

from lengthlab.batches import Pipeline
from lengthlab.config import Config
from lengthlab.formats.vocabulary import PAD


def describe_examples(config: Config, digits: int, examples: int) -> list[dict[str, Any]]:
    """Training problems of a length: tokens, and for each its place, its ids and whether the loss counts it."""
    pipeline = Pipeline(config)
    pipeline.require(digits, "--digits", training=True)
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


def print_examples(described: list[dict[str, Any]]) -> None:
    """Tokens in columns, with what belongs to each beneath it."""
    for example in described:
        lines = {
            "tokens": example["tokens"],
            "place": ["" if place < 0 else str(place) for place in example["place"]],
            **{name: list(map(str, ids)) for name, ids in example["ids"].items()},
            "loss": ["*" if counted else "" for counted in example["loss"]],
        }
        width = max(len(cell) for cells in lines.values() for cell in cells)
        label = max(map(len, lines))
        print(example["problem"])
        for name, cells in lines.items():
            print(f"  {name:<{label}}  " + " ".join(f"{cell:>{width}}" for cell in cells).rstrip())
        print()
    print("place: the power of ten of a digit or hint.  loss: * marks the tokens that the model must predict.")
