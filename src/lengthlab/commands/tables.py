"""The README's tables, made from the registries: `python -m lengthlab.commands.tables README.md` renews them."""

import re
import sys
from pathlib import Path

from lengthlab.catalogue import catalogue


def markdown_table(axis: str) -> str:
    """One axis as a table of names and descriptions."""
    rows = [f"| `{item['name']}` | {item['description']} |" for item in catalogue()[axis]]
    return "\n".join([f"| {axis} | |", "|---|---|", *rows])


def renew(text: str) -> str:
    """`text` with everything between `<!-- table: AXIS -->` and `<!-- end -->` made anew."""

    def replace(match: re.Match[str]) -> str:
        return f"{match[1]}\n{markdown_table(match[2])}\n{match[3]}"

    return re.sub(r"(<!-- table: (\w+) -->).*?(<!-- end -->)", replace, text, flags=re.DOTALL)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(renew(Path(name).read_text()))
