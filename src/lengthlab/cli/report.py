"""`lengthlab report`: one HTML page from result tables, or from runs of one's own."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lengthlab.cli.console import Screen, print_json, size
from lengthlab.cli.parameters import Json, RunNames, place_for
from lengthlab.errors import UserError

RESULTS = Path("results/mini")


def report(
    *runs: RunNames,
    results: Annotated[Path, Parameter(help="Folder of result tables, if no runs are named.")] = RESULTS,
    out: Annotated[Path, Parameter(help="The page to write.")] = Path("report.html"),
    figures: Annotated[
        Path | None, Parameter(help="Folder in which to keep the figures too, as .png, .svg and .pdf.")
    ] = None,
    demo: Annotated[bool, Parameter(help="Put a model that adds into the page, 3 MB.")] = True,
    as_json: Json = False,
) -> None:
    """Write one self-contained HTML page from result tables, or from your own runs.

    It opens with the findings, followed by every experiment with its figure and
    all seeds, a model to try, the claims with their numbers, all configs, and
    how to rerun everything.
    """
    if runs and results != RESULTS:
        raise UserError("--results: name runs or a folder of result tables, not both")
    if not runs and not results.is_dir():
        near = sorted(str(folder) for folder in results.parent.glob("*/") if (folder / "members.csv").exists())
        others = f"; there is {', '.join(near)}" if near else ""
        raise UserError(f"--results: no folder {results}{others}")
    if out.is_dir():
        raise UserError(f"--out: {out} is a folder; name a file in it, such as {out / 'report.html'}")
    place_for(out)
    if figures:
        place_for(figures, "folder", "--figures")
    from lengthlab.report.page import build, build_own
    from lengthlab.runs.files import write_atomically
    from lengthlab.runs.run import Run

    found = [Run.find(run) for run in runs]
    model = _demo() if demo else ""
    page = build_own(found, figures, model) if found else build(results, figures, model)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, page)
    count = len(page.encode())
    if as_json:
        print_json({"page": str(out), "bytes": count})
    else:
        Screen().put(f"{out} ({size(count)})")


def _demo() -> str:
    from lengthlab.shipped import DEFAULT
    from lengthlab.web.demo import demo_page

    return demo_page(DEFAULT)
