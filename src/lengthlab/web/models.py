"""The models that the page can ask: those that come with the package, and the runs of sums of two numbers."""

import re
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from lengthlab.errors import UserError
from lengthlab.export.facts import Score, recipe_of, told_by_code
from lengthlab.export.file import read_facts
from lengthlab.runs.labels import system_name
from lengthlab.runs.reader import Loaded, Record, read_runs
from lengthlab.runs.run import Run
from lengthlab.shipped import shipped_file, shipped_names
from lengthlab.shipped.adder import Adder, run_adder, shipped_adder
from lengthlab.tasks import adds_two_numbers
from lengthlab.web.schema import Model, ModelDetails

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")  # an id, never a path
LONGEST = 1000  # digits that the page asks for
KEPT = 6  # models in memory at once
TITLES = {
    "robust": "the robust model",
    "paper": "the paper's recipe",
    "fragile": "the paper's recipe in small",
}


class NotThere(UserError):
    """No model or run of this name."""


class Library:
    """Finds models by their names and keeps the last few in memory."""

    def __init__(self, runs: Path) -> None:
        self.runs = runs
        self._adders: OrderedDict[str, Adder] = OrderedDict()
        self._lock = threading.Lock()

    def read(self) -> Loaded:
        """All runs as they are now."""
        return read_runs(self.runs)

    def models(self) -> list[Model]:
        """Shipped models first, then runs that have weights, the newest first."""
        adding = [record for record in self.read().records if adds_two_numbers(record.row["config"]["task"])]
        runs = [record for record in reversed(adding) if self._weights(record.id)]
        return [*map(shipped_model, shipped_names()), *map(run_model, runs)]

    def details(self, name: str) -> ModelDetails:
        """Everything about one model, which is loaded for it."""
        adder = self.adder(name)
        if name in shipped_names():
            facts = read_facts(shipped_file(name))
            model, told, chosen, recipe = shipped_model(name), facts.told, facts.chosen, facts.recipe
        else:
            told, chosen, recipe = told_by_code(adder.pipeline.config), "", recipe_of(self.run(name))
            model = run_model(self._record(name))
        tested = max([100, *(score.digits for score in model.scores)])
        return ModelDetails(
            **model.model_dump(),
            recipe=recipe,
            longest=min(adder.longest, LONGEST, tested),
            readable=adder.longest,
            layers=adder.model.options.layers * adder.model.options.loops,
            heads=adder.model.options.heads,
            parameters=sum(parameter.numel() for parameter in adder.model.parameters()),
            told=told,
            chosen=chosen,
        )

    def adder(self, name: str) -> Adder:
        """A model, loaded if it is not among the last few."""
        with self._lock:
            if name in self._adders:
                self._adders.move_to_end(name)
                return self._adders[name]
            adder = shipped_adder(name) if name in shipped_names() else run_adder(self.run(name))
            self._adders[name] = adder
            while len(self._adders) > KEPT:
                self._adders.popitem(last=False)
            return adder

    def run(self, name: str) -> Run:
        """A run by its whole id."""
        if not NAME.fullmatch(name) or not (self.runs / name / "config.yaml").is_file():
            raise NotThere(f"there is no model or run {name[:64]!r} here")
        return Run(self.runs / name)

    def _record(self, name: str) -> Record:
        found = next((record for record in self.read().records if record.id == name), None)
        if found is None:
            raise NotThere(f"there is no model or run {name[:64]!r} here")
        return found

    def _weights(self, name: str) -> bool:
        return NAME.fullmatch(name) is not None and (self.runs / name / "model.safetensors").is_file()


def shipped_model(name: str) -> Model:
    facts = read_facts(shipped_file(name))
    title = TITLES.get(name, name)
    return Model(name=name, kind="shipped", title=title, trained_digits=facts.trained_digits, scores=facts.scores)


def run_model(record: Record) -> Model:
    row = record.row
    wanted = [line for line in record.evaluation if line["weights"] == row["weights"] and not line.get("chain")]
    scores = [_score(line) for line in sorted(wanted, key=lambda line: line["digits"])]
    title = f"{setting_title(row)}, seed {record.seed}"
    return Model(name=record.id, kind="run", title=title, trained_digits=row["trained_digits"], scores=scores)


def setting_title(row: dict[str, Any]) -> str:
    """A few words for what a run is: its encodings and ids, and its recipe."""
    recipe = f" ({row['recipe']})" if row.get("recipe") else ""
    return system_name(row["config"]) + recipe


def _score(line: dict[str, Any]) -> Score:
    exact = line["exact_match"]
    return Score(
        digits=line["digits"],
        examples=line.get("examples") or 0,
        exact_match=exact,
        low=line.get("low", exact),
        high=line.get("high", exact),
    )
