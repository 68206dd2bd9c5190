"""No command line, however odd, ends in a traceback or leaves something behind when it is refused."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
import uvicorn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lengthlab.cli.app import COMMANDS
from lengthlab.config.names import settings as all_settings
from lengthlab.training import estimate

SMOKE = str(Path(__file__).parents[1] / "smoke.yaml")
OPTIONS = sorted(all_settings())
ODD = [
    "",
    "null",
    "[]",
    "{}",
    "{a: 1}",
    "[1, 2]",
    "nan",
    ".inf",
    "-.inf",
    "true",
    "2024-13-45",
    "0x_",
    "!!int abc",
    "!!bool x",
]
ODD += [
    "9" * 5000,
    "[" * 1000,
    "&a [*a]",
    "\x1b[31m",
    "\udcff",
    "a: b: c",
    "'",
    "1e400",
    "-0",
    "0x10",
    "1_000",
    "~",
    "fire",
]
VALUES = st.one_of(
    st.sampled_from(ODD),
    st.integers(-(10**19), 10**19).map(str),
    st.integers(0, 40).map(lambda power: str(10**power)),
    st.floats().map(str),
    st.text(max_size=8),
)
LONG = ("quickstart", "bench", "board", "speedrun")  # said right, they work for minutes
WORDS = st.one_of(
    st.sampled_from([name for names in COMMANDS.values() for name in names if name not in LONG]),
    st.sampled_from(
        ["--json", "--csv", "--digits", "--weights", "--seed", "--resume", "--sort", "--columns", "--trust", "--"]
    ),
    st.sampled_from(["1-5", "0", "-1", "best", "smoke", "nothing", "1e9", "5-1", "id,state", "select", "a=b", "="]),
    st.text(max_size=6),
)
COUNT = 80
LONGEST = 10  # seconds of the processor, for one that is slow
BOUNDED = settings(
    max_examples=COUNT, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command may write by mistake is written here."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(estimate, "peak_flops", lambda *_: 1e12)  # measured for a third of a second
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: None)  # `serve`, said right, would serve for ever


Run = Callable[..., tuple[int, str, str]]


def test_any_value_of_any_setting_is_taken_or_refused(
    lengthlab: Run, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    @BOUNDED
    @given(chosen=st.dictionaries(st.sampled_from(OPTIONS), VALUES, min_size=1, max_size=2))
    def attempt(chosen: dict[str, str]) -> None:
        overrides, begun = [f"{name}={value}" for name, value in chosen.items()], time.process_time()
        status, _, err = lengthlab("train", SMOKE, *overrides, "--dry-run", "--json")
        assert status in (0, 2) and (status == 0) == (not err), (overrides, status, err)
        assert err.count("\n") <= 1 and "\x1b" not in err and not list(tmp_path.iterdir())
        assert time.process_time() - begun < LONGEST, overrides

    attempt()
    record_property("fuzzed", COUNT)


def test_any_command_line_is_taken_or_refused(
    lengthlab: Run, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    @BOUNDED
    @given(words=st.lists(WORDS, max_size=5))
    def attempt(words: list[str]) -> None:
        if next((word for word in words if not word.startswith("-")), "") in ("train", "reproduce"):
            words = [*words, "--dry-run"]  # what is right would train
        begun = time.process_time()
        status, _, err = lengthlab(*words)
        assert status in (0, 2), (words, status, err)
        assert status == 0 or not list(tmp_path.iterdir()), words
        assert time.process_time() - begun < LONGEST, words

    attempt()
    record_property("fuzzed", COUNT)
