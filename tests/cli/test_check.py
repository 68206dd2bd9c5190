"""`lengthlab check`: what it says of a file without variants (of contracts, see tests/config/test_plugins.py)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lengthlab.config.plugins import ENVIRONMENT

IMPORT = "from lengthlab.encodings import ENCODINGS"
CLASS = """
from lengthlab.encodings.encoding import Encoding
class Recency(Encoding):
    pass
"""
LINE = 'ENCODINGS.add("recency", Recency, "what it does")'


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (IMPORT + CLASS, f"registers nothing; its last line should be {LINE}"),
        (CLASS, f"registers nothing; its last line should be {IMPORT}; {LINE}"),
        ("x = 1", "registers nothing, such as ENCODINGS.add(NAME, CLASS, DESCRIPTION) does"),
    ],
)
def test_a_plugin_without_its_line_is_told_the_line(
    source: str,
    said: str,
    lengthlab: Callable[..., tuple[int, str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(ENVIRONMENT, "")
    (tmp_path / "my_ideas.py").write_text(source)
    assert lengthlab("check", str(tmp_path / "my_ideas.py")) == (
        2,
        "",
        f"lengthlab: check: {tmp_path / 'my_ideas.py'} {said}\n",
    )


def test_a_file_must_be_named(lengthlab: Callable[..., tuple[int, str, str]]) -> None:
    assert "check: name at least one Python file" in lengthlab("check")[2]
