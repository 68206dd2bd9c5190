"""`lengthlab show`: what the model reads, lined up."""

import json
from collections.abc import Callable

import pytest

Command = Callable[..., tuple[int, str, str]]


def test_show_lines_up_tokens_places_ids_and_loss(lengthlab: Command) -> None:
    status, out, _ = lengthlab("show", "smoke", "--digits", "2", "--examples", "3")
    assert status == 0
    assert out.count("  tokens  ") == 3 and "randomized ids -> fire" in out
    for example in json.loads(lengthlab("show", "smoke", "--json")[1]):
        lengths = {
            len(example["tokens"]),
            len(example["place"]),
            len(example["loss"]),
            *map(len, example["ids"].values()),
        }
        assert len(lengths) == 1
        assert sum(example["loss"]) == 2 * 4 + 1  # three digits and a carry, each with its hint, and the end


def test_a_long_example_is_cut_into_blocks_that_fit(lengthlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = lengthlab("show", "smoke", "--digits", "9", "--examples", "1")[1]
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    cut = lengthlab("show", "smoke", "--digits", "9", "--examples", "1")[1]

    def tokens(out: str) -> list[str]:
        return [token for line in out.splitlines() if line.startswith("  tokens") for token in line.split()[1:]]

    assert cut.count("  tokens") > 1 == whole.count("  tokens") and tokens(cut) == tokens(whole)
    assert max(map(len, cut.splitlines())) <= 80
