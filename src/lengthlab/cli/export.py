"""`lengthlab export`: a run as a folder that needs no lengthlab."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lengthlab.cli.console import Screen, complain, print_json
from lengthlab.cli.parameters import Json, RunName


def export(
    run: RunName,
    /,
    *,
    to: Annotated[Path, Parameter(help="A new folder to write.")],
    onnx: Annotated[bool | None, Parameter(help="Also write ONNX. By default: if its packages are installed.")] = None,
    as_json: Json = False,
) -> None:
    """Export a run as a folder that needs no lengthlab: weights, model card, model.py, ONNX."""
    from lengthlab.runs.run import Run

    found = Run.find(run)
    from lengthlab.export.folder import export_run

    exported = export_run(found, to, onnx, lambda text: complain(text, "yellow"))
    if as_json:
        print_json({"files": [str(file) for file in exported.files], "differences": exported.differences})
        return
    console = Screen()
    for file in exported.files:
        console.put(str(file))
    for name, difference in exported.differences.items():
        console.say(f"{name}: logits differ by at most {difference:.1g} from the run's")
    if exported.note:
        console.say(exported.note)
