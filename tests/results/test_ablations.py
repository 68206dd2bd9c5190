"""results/ablations: every setting can be trained and takes one thing away; the table judges by the rule."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from lengthlab.config.checks import check
from lengthlab.config.load import load_config
from lengthlab.paper.experiment import load_experiment, settings, trials
from lengthlab.paper.tables import COLUMNS, write_tables

FOLDER = Path(__file__).parents[2] / "results" / "ablations"


def test_every_setting_can_be_trained_and_differs_from_the_whole() -> None:
    experiment = load_experiment(str(FOLDER / "ablations.yaml"))
    configs = settings(experiment, "laptop")
    steps = ["training.steps=1250", "evaluation.digits=5,10,15,20,25,30,35,40,45,50", "evaluation.examples=200"]
    assert configs["whole recipe"] == load_config("zhou2024-quick", steps)
    assert len({config.id for config in configs.values()}) == len(configs) == 12
    for config in [*configs.values(), *settings(experiment, "smoke").values()]:
        check(config)


def test_the_table_judges_by_the_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planned = trials(load_experiment(str(FOLDER / "ablations.yaml")), "laptop", [31, 32, 33, 34, 35])
    far = {
        "whole recipe": (1.0, 0.9, 0.95, 1.0, 0.9),
        "without hint jumps": (0.3, 0.2, 0.2, 0.3, 0.2),
        "without random sharpness": (1.0, 0.8, 1.0, 1.0, 0.9),
        "without mastery": (0.0, 0.0, 0.0),
    }
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in COLUMNS}
    for one in planned:
        if one.seed - 31 >= len(far.get(one.setting, ())):
            continue
        member = {"experiment": "ablations", "setting": one.setting, "seed": one.seed, "run": one.config.id}
        tables["members"].append(member)
        facts = dict.fromkeys(COLUMNS["trials"]) | {"run": one.config.id, "state": "finished", "trained_digits": 20}
        tables["trials"].append(facts)
        for digits in (20, 30, 40, 50):
            row = dict.fromkeys(COLUMNS["exact_match"]) | {"run": one.config.id, "weights": "last", "chain": 0}
            score = far[one.setting][one.seed - 31] if digits == 50 else 1.0
            tables["exact_match"].append(row | {"digits": digits, "exact_match": score})
    write_tables(tmp_path, tables)
    main = runpy.run_path(str(FOLDER / "table.py"))["main"]
    main(tmp_path)
    whole, jumps, sharpness, mastery = capsys.readouterr().out.splitlines()[2:]
    assert whole.endswith("| 95% (90% to 100%) |  |  |")
    assert "| 20% (20% to 30%) | +71 points (+68 to +74) | helps |" in jumps
    assert sharpness.endswith("| is undecided |")
    assert mastery.endswith("| has 3 of 5 pairs |")
    main(tmp_path / "nothing")
    assert "No finished runs" in capsys.readouterr().out
