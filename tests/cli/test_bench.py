"""`lengthlab bench`: everything is measured, in the sizes of a test."""

import json
import multiprocessing
from collections.abc import Callable, Iterator
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

import lengthlab as package
from lengthlab.bench import train
from lengthlab.bench.train import tables

SOURCE = Path(package.__file__).parents[1]

Command = Callable[..., tuple[int, str, str]]


def test_bench_data_measures_every_format(lengthlab: Command) -> None:
    status, out, _ = lengthlab("bench", "data", "--digits", "2", "--batch", "8", "--repeats", "2", "--json")
    result = json.loads(out)
    assert status == 0 and {row["format"] for row in result["formats"]} == {"equation", "interleaved", "scratchpad"}
    assert 0 < result["share_of_a_step"] < 1


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServerContext]:
    """One process that has imported torch and the rivals."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["lengthlab.bench.train", "lengthlab.bench.evaluate", "x_transformers", "transformers.models.llama"]
    )
    yield context
    forkserver._forkserver._stop()  # and wait for its end  # pyrefly: ignore[missing-attribute]


@pytest.fixture
def forked(fork_server: ForkServerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contestants are forks of that process: of their own, but there sooner."""
    monkeypatch.setattr(multiprocessing, "get_context", lambda method: fork_server)


@pytest.mark.slow
@pytest.mark.xdist_group("rivals")
@pytest.mark.usefixtures("forked")
def test_bench_train_measures_rivals_of_the_same_size_and_an_earlier_commit(
    lengthlab: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unpacked(commit: str, folder: Path) -> Path:
        assert commit == "HEAD~1"
        return SOURCE  # this very code: a checkout need not have an earlier commit

    monkeypatch.setattr(train, "unpack", unpacked)
    monkeypatch.setattr(train, "matmul_flops", lambda *_: 1e15)  # measured for seconds
    arguments = ("--size", "tiny", "--digits", "2", "--batch", "4", "--repeats", "2", "--baseline", "HEAD~1")
    status, out, err = lengthlab("bench", "train", *arguments, "--out", str(tmp_path / "speed"), "--json")
    assert status == 0, err
    result = json.loads(out)
    assert list(result["lengths"]) == ["2"] and (tmp_path / "speed.png").exists()
    for one, view in zip(result["lengths"].values(), tables(result), strict=True):
        rows = {row["name"]: row for row in one["rows"]}
        assert rows.keys() >= {"lengthlab", "baseline", "nanoGPT-style", "x-transformers", "transformers Llama"}
        counts = [row["parameters"] for row in rows.values()]
        assert max(counts) < 1.15 * min(counts)  # a tiny model's embeddings differ most; at width 128 it is 3%
        assert rows["baseline"]["parameters"] == rows["lengthlab"]["parameters"]
        assert rows["baseline"]["to_baseline"] == 1 and one["optimizer"] == "muon"
        assert all(row["low"] <= row["tokens_per_second"] <= row["high"] for row in rows.values())
        assert all(0 < row["share_of_peak"] < 1 for row in rows.values())
        (tokens_per_second,) = [column for column in view.columns if str(column.header) == "tokens/s"]
        assert list(tokens_per_second.cells) == [f"{row['tokens_per_second']:,.0f}" for row in rows.values()]


def test_a_commit_that_is_not_there_is_refused(lengthlab: Command) -> None:
    status, _, err = lengthlab("bench", "train", "--baseline", "no-such-commit")
    assert status == 2 and "--baseline: 'no-such-commit' is not a commit" in err


@pytest.mark.slow
@pytest.mark.xdist_group("rivals")
@pytest.mark.usefixtures("forked")
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
