"""`lengthlab bench`: everything is measured, in the sizes of a test."""

import json
from collections.abc import Callable
from pathlib import Path

from lengthlab.bench.train import table

Command = Callable[..., tuple[int, str, str]]


def test_bench_data_measures_every_format(lengthlab: Command) -> None:
    status, out, _ = lengthlab("bench", "data", "--digits", "2", "--batch", "8", "--repeats", "2", "--json")
    result = json.loads(out)
    assert status == 0 and {row["format"] for row in result["formats"]} == {"equation", "interleaved", "scratchpad"}
    assert 0 < result["share_of_a_step"] < 1


def test_bench_train_measures_rivals_of_the_same_size(lengthlab: Command, tmp_path: Path) -> None:
    arguments = ("--size", "tiny", "--digits", "2", "--batch", "4", "--repeats", "2", "--out", str(tmp_path / "speed"))
    status, out, err = lengthlab("bench", "train", *arguments, "--json")
    assert status == 0, err
    result = json.loads(out)
    rows = result["rows"]
    assert {row["name"] for row in rows} >= {"nanoGPT-style", "x-transformers", "transformers Llama"}
    counts = [row["parameters"] for row in rows]
    assert max(counts) < 1.15 * min(counts)  # a tiny model's embeddings differ most; at width 128 it is 3%
    assert all(row["low"] <= row["tokens_per_second"] <= row["high"] for row in rows)
    assert (tmp_path / "speed.png").exists()
    (tokens_per_second,) = [column for column in table(result).columns if column.header == "tokens/s"]
    assert list(tokens_per_second.cells) == [f"{row['tokens_per_second']:,.0f}" for row in rows]


def test_bench_evaluate_measures_rivals_on_the_same_sums(lengthlab: Command, tmp_path: Path) -> None:
    options = ["--recipe", "smoke", "--batch", "4", "--repeats", "2", "--digits", "3", "--curve", "4"]
    status, out, err = lengthlab("bench", "evaluate", *options, "--out", str(tmp_path / "cost"), "--json")
    assert status == 0, err
    result = json.loads(out)
    names = [row["name"] for row in result["lengths"]["3"]]
    assert "x-transformers generate" in names and "lengthlab, all wrong" in names and len(names) == 7
    assert all(row["seconds"] > 0 for row in result["lengths"]["3"])
    assert [(row["digits"], row["right"]) for row in result["curve"]] == [(4, True), (4, False)]
    assert (tmp_path / "cost.png").exists()
    status, _, err = lengthlab("bench", "evaluate", "--digits", "x")
    assert status == 2 and "--digits" in err
