"""results/tasks: every setting can be trained, differs in the two ideas alone, and the table says what runs reached."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from lengthlab.config.checks import check
from lengthlab.config.load import load_config
from lengthlab.paper.experiment import load_experiment, settings, trials
from lengthlab.paper.tables import COLUMNS, write_tables

FOLDER = Path(__file__).parents[2] / "results" / "tasks"


def test_every_setting_can_be_trained() -> None:
    experiment = load_experiment(str(FOLDER / "tasks.yaml"))
    configs = settings(experiment, "laptop")
    assert len(configs) == 18 and len({config.task.model_dump_json() for config in configs.values()}) == 9
    for config in [*configs.values(), *settings(experiment, "smoke").values()]:
        check(config)


def test_addition_is_a_recipe_and_plain_lacks_the_two_ideas_alone() -> None:
    mine = settings(load_experiment(str(FOLDER / "tasks.yaml")), "laptop")
    tested = ["evaluation.digits=5,10,15,20,30,50,75,100", "evaluation.examples=200"]
    assert mine["addition, mastery and sharpness"] == load_config("coupling-relative-quick", tested)
    plain = ["training.mastery.accuracy=0", "training.sharpness.most=1", "model.logit_factor_at_test=2"]
    assert mine["addition, plain"] == load_config("coupling-relative-quick", [*tested, *plain])


def test_the_table_says_how_far_every_seed_got(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planned = trials(load_experiment(str(FOLDER / "tasks.yaml")), "laptop", [1, 2])[:2]
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in COLUMNS}
    for one, scores in zip(planned, ((1.0, 1.0, 0.5), (1.0, 0.9, 1.0)), strict=True):
        member = {"experiment": "tasks", "setting": one.setting, "seed": one.seed, "run": one.config.id}
        tables["members"].append(member)
        facts = dict.fromkeys(COLUMNS["trials"]) | {"run": one.config.id, "state": "finished", "trained_digits": 10}
        tables["trials"].append(facts)
        for digits, score in zip((10, 20, 30), scores, strict=True):
            row = dict.fromkeys(COLUMNS["exact_match"]) | {"run": one.config.id, "weights": "last", "chain": 0}
            tables["exact_match"].append(row | {"digits": digits, "exact_match": score})
    write_tables(tmp_path, tables)
    main = runpy.run_path(str(FOLDER / "table.py"))["main"]
    main(tmp_path)
    assert "| addition | **1.0x** (2 seeds: 1.0x, 2.0x) |" in capsys.readouterr().out
    main(tmp_path / "nothing")
    assert "No finished runs" in capsys.readouterr().out
