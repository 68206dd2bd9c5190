"""What the page says of a model."""

from pathlib import Path

from lengthlab.runs.run import Run
from lengthlab.web.models import Library


def test_the_recipe_is_the_one_that_the_run_keeps(trained: Path) -> None:
    run = Run(trained)
    run.set_status("finished", recipe="mine")
    assert Library(trained.parent).details(trained.name).recipe == "mine"
    run.set_status("finished", recipe="")
    assert Library(trained.parent).details(trained.name).recipe == "a recipe of its own"
