"""`lengthlab demo`: the Try page with a shipped model as one file."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lengthlab.cli.console import Screen, size
from lengthlab.cli.parameters import place_for
from lengthlab.errors import UserError, suggestion
from lengthlab.shipped import DEFAULT, shipped_names


def demo(
    *,
    out: Annotated[Path, Parameter(help="The page to write.")] = Path("demo.html"),
    model: Annotated[str, Parameter(help="A model that comes with lengthlab.")] = DEFAULT,
) -> None:
    """Write one page that runs a model in the browser; mail it, open it offline, or host it anywhere."""
    if model not in shipped_names():
        raise UserError(f"--model: no shipped model {model!r}; {suggestion(model, shipped_names())}")
    place_for(out)
    if out.is_dir():
        raise UserError(f"--out: {out} is a folder")
    from lengthlab.runs.files import write_atomically
    from lengthlab.web.demo import demo_page

    page = demo_page(model)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, page)
    Screen().put(f"{out} ({size(len(page.encode()))})")
