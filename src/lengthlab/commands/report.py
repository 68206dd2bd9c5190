"""`lengthlab report`: one HTML page from the result tables."""

import json
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lengthlab.errors import UserError


def report(
    *,
    results: Annotated[Path, Parameter(help="Folder of result tables, named after its scale.")] = Path("results/mini"),
    out: Annotated[Path, Parameter(help="The page to write.")] = Path("report.html"),
    figures: Annotated[
        Path | None, Parameter(help="Keep the figures here too, as .png, .svg and .pdf; not kept if not given.")
    ] = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON.")] = False,
) -> None:
    """One self-contained page: the claims, every experiment with its figure, all seeds, configs, how to rerun."""
    if not results.is_dir():
        near = sorted(str(folder) for folder in results.parent.glob("*/") if (folder / "members.csv").exists())
        others = f"; there is {', '.join(near)}" if near else ""
        raise UserError(f"--results: no folder {results}{others}")
    if out.is_dir() or not out.parent.is_dir():
        raise UserError(f"--out: {out} is a folder" if out.is_dir() else f"--out: no folder {out.parent}")
    from lengthlab.files import write_atomically
    from lengthlab.report.page import build

    page = build(results, figures)
    write_atomically(out, page)
    kilobytes = len(page.encode()) / 1000
    if as_json:
        print(json.dumps({"page": str(out), "bytes": len(page.encode())}, indent=2))
    else:
        print(f"{out} ({kilobytes:,.0f} kB)")
