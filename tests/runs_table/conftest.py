"""Run folders without training: the files that a run writes, with scores of our choice."""

import copy
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from lengthlab.recipes.load import load_config
from lengthlab.statistics import wilson

MakeRun = Callable[..., Path]


@pytest.fixture(scope="session")
def base() -> dict[str, Any]:
    """The config of the smoke recipe as plain data."""
    return load_config("smoke").model_dump(mode="json")


@pytest.fixture
def make_run(make_run_in: MakeRun, runs_folder: Path) -> MakeRun:
    """Write a run folder: make_run("aa", {5: 0.9, 10: 0.5}, {"seeds.weights": 3}). No scores: it is still running."""
    return partial(make_run_in, runs_folder)


@pytest.fixture(scope="session")
def make_run_in(base: dict[str, Any]) -> MakeRun:
    """The same with the folder for runs before the name."""

    def make(
        runs: Path, name: str, scores: Mapping[int, float] = {}, settings: Mapping[str, Any] = {}, **status: Any
    ) -> Path:
        config = copy.deepcopy(base)
        for key, value in settings.items():
            section = config
            *path, last = key.split(".")
            for part in path:
                section = section[part]
            section[last] = value
        folder = runs / name
        folder.mkdir(parents=True)
        (folder / "config.yaml").write_text(yaml.dump(config, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper)))
        state = {"state": "finished" if scores else "running", "time": (folder / "config.yaml").stat().st_mtime + 90}
        (folder / "status.json").write_text(json.dumps(state | {"step": 20, "steps": 20} | status))
        lines: list[dict[str, Any]] = [
            {"step": step, "loss": 2.0 / step, "accuracy": 0.5 + step / 100, "examples": 8 * step} for step in (10, 20)
        ]
        lines.insert(1, {"step": 10, "exact_match": {"2": 0.25, "4": 0.0}})
        (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        if scores:
            rows = [
                {"digits": digits, "examples": 100, "exact_match": score, "weights": "last"}
                | dict(zip(("low", "high"), wilson(round(100 * score), 100), strict=True))
                for digits, score in scores.items()
            ]
            (folder / "evaluation.json").write_text(json.dumps(rows))
        return folder

    return make
