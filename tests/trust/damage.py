"""Damage each file of a finished and of an interrupted run in each way, and see what every command makes of it.

A command may mend the damage or say it in one sentence; it may not end in a traceback, nor give other numbers without a
word. Commands that cost more meet fewer kinds of damage (`FEWER`), and one that does not open a file is not tried on
what is in that file; whether the file is there at all, it is.

A script of its own, because it takes time and memory from no other test.
"""

import contextlib
import io
import json
import os
import pickle
import random
import re
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save

from lengthlab.analysis.study import write_error_rows
from lengthlab.cli import analyse, app
from lengthlab.config import load, presets, yaml_text
from lengthlab.config.schema import Config
from lengthlab.config.yaml_text import parse_yaml
from lengthlab.figures import curves
from lengthlab.paper.experiment import load_experiment, trials
from lengthlab.report import draw
from lengthlab.runs.run import Run
from lengthlab.training import estimate
from lengthlab.training.loop import Trainer, Watcher

sys.path.insert(0, str(Path(__file__).parent))  # where pytest does not look
from chaos import COMPARED, SMALL, State, make_quick, put_back, state_of  # pyrefly: ignore[missing-import]

FEWER = ("one bit flipped", "wrong shape", "deleted")
EXPERIMENT = {
    "varies": "nothing",
    "question": "?",
    "sentence": ".",
    "figure": "exact_match_over_seeds",
    "factors": {"format": {"plain": {}}},
    "overrides": {name: parse_yaml(value) for name, value in (setting.split("=") for setting in SMALL)}
    | {"training.ema": 0.9, "training.precision": "fp32", "training.compile": "off"}
    | {"training.digits": 1, "evaluation.digits": [1, 2]},
}
OUT = ["--out", "out/made"]
COMMANDS: dict[str, Callable[[str], list[str]]] = {
    "doctor": lambda run: ["doctor", run, "--json"],
    "runs": lambda run: ["runs", "--json"],
    "add": lambda run: ["add", run, "1", "2", "--json"],
    "config": lambda run: ["config", run],
    "evaluate": lambda run: ["evaluate", run, "--digits", "1-2", "--json"],
    "best": lambda run: ["evaluate", run, "--digits", "1", "--weights", "best", "--json"],
    "train": lambda run: ["train", "--resume", run, "--json"],  # after all others: it mends
}
COSTLY: dict[str, Callable[[str], list[str]]] = {
    "diff": lambda run: ["diff", run, "smoke", "--json"],
    "compare": lambda run: ["compare", "seed_weights = 1", "seed_weights = 2", "--digits", "1", "--json"],
    "figure": lambda run: ["figure", run, *OUT, "--json"],
    "analyse": lambda run: ["analyse", run, "--digits", "1", "--examples", "2", *OUT, "--json"],
    "reproduce": lambda run: ["reproduce", "mine.yaml", "--scale", "smoke", "--collect-only", *OUT, "--json"],
    "export": lambda run: ["export", run, "--to", "out/made", "--no-onnx", "--json"],
}


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def misshapen(path: Path) -> bytes:
    if path.suffix == ".safetensors":
        return save({"other": torch.zeros(3)})
    return b'{"other": [1]}\n' if path.suffix in (".json", ".jsonl") else b"- other\n"


DAMAGE: dict[str, Callable[[Path], object]] = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "one bit flipped": lambda path: path.write_bytes(flipped(path.read_bytes())),
    "garbage": lambda path: path.write_bytes(random.Random(0).randbytes(path.stat().st_size)),
    "wrong shape": lambda path: path.write_bytes(misshapen(path)),
    "deleted": lambda path: path.unlink(),
}


def make(state: str, config: Config) -> Run:
    run = Run.of(config)

    def stop(line: dict[str, Any]) -> None:
        if state == "interrupted" and line["step"] == 1 and "loss" in line:
            os.kill(os.getpid(), signal.SIGTERM)

    with contextlib.suppress(KeyboardInterrupt):
        Trainer(config, run, Watcher(metrics=stop), recipe="smoke").train()
    assert run.status["state"] == state
    if state == "finished":
        write_error_rows(run, examples=2)
    return run


class Opened:
    """Which files are opened within."""

    def __init__(self) -> None:
        self._names: set[str] | None = None
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and self._names is not None and isinstance(arguments[0], str | Path):
            self._names.add(str(arguments[0]))

    @contextlib.contextmanager
    def noted(self) -> Iterator[set[str]]:
        self._names = found = set()
        yield found
        self._names = None


def command(arguments: list[str]) -> dict[str, Any]:
    """What a command prints, writes, says and returns."""
    shutil.rmtree("out", ignore_errors=True)
    out, err, status = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            app.main(arguments)
        except SystemExit as stop:
            status = int(stop.code or 0)
        except BaseException:
            traceback.print_exc()
            status = 99
    printed = re.sub(r'("model.py": )[\d.e+-]+', r"\1about 0", out.getvalue())  # rounding follows where memory lies
    return {"status": status, "out": (printed, written()), "err": err.getvalue()}


def written() -> State:
    """What a command wrote; the head of weights comes in any order."""
    after_head = lambda content: content[8 + int.from_bytes(content[:8], "little") :]
    found = state_of(Path("out"))
    return {name: after_head(found[name]) if name.endswith(".safetensors") else found[name] for name in found}


def numbers(run: Run) -> dict[str, bytes]:
    return {name: file.read_bytes() for name in COMPARED if (file := run.path / name).exists()}


def judge(name: str, found: dict[str, Any], sound: dict[str, Any], same: bool) -> str:
    """What is wrong with how a command took the damage; empty if nothing is."""
    if found["status"] not in (0, 1, 2) or "Traceback" in found["err"]:
        return "traceback"
    if found["status"]:
        return "" if found["err"].strip() or name == "doctor" else "refused without a word"
    if name == "train":
        return "" if same else "trained to another end"
    if found["err"].strip() or found["out"] == sound["out"]:
        return ""
    (printed, files), (expected, whole) = found["out"], sound["out"]
    changed = [str(file) for file in files.keys() | whole.keys() if files.get(file) != whole.get(file)]
    return f"changed without a word: {', '.join(changed) or printed + ' instead of ' + expected}"


def try_all(run: Run, expected: dict[str, bytes], opened: Opened) -> dict[str, Any]:
    """All damage to a run."""
    whole, tried = state_of(run.path), COSTLY | COMMANDS
    sound, reads = {}, {}
    for name, of in tried.items():
        with opened.noted() as reads[name]:
            sound[name] = command(of(run.id))
        assert sound[name]["status"] in (0, 2) and "Traceback" not in sound[name]["err"], sound[name]
        put_back(run.path, whole)
    assert sound["train"]["status"] == 0 and sound["doctor"]["status"] == 0
    refused = [name for name in sound if sound[name]["status"]]
    counts: dict[str, Any] = {"damaged": 0, "commands": 0, "refused": refused, "wrong": []}
    for file in (name for name, content in whole.items() if content is not None):
        for kind, spoil in DAMAGE.items():
            put_back(run.path, whole)
            spoil(run.path / file)
            counts["damaged"] += 1
            for name, of in tried.items():
                left_out = name in COSTLY and kind not in FEWER
                if left_out or (kind != "deleted" and str(run.path / file) not in reads[name]):
                    continue
                counts["commands"] += 1
                result = command(of(run.id))
                if reason := judge(name, result, sound[name], numbers(run) == expected):
                    counts["wrong"].append([file, kind, name, reason, result["err"][-600:]])
    return counts


class Parsed:
    """The command line, each taken apart once."""

    def __init__(self) -> None:
        self.help_flags, self._parse = app.app.help_flags, cache(app.app.parse_args)

    def __call__(self, typed: list[str], **options: bool) -> None:
        function, bound, _ = self._parse(tuple(typed), **options)
        function(*bound.args, **bound.kwargs)


def write_down(*what: Any) -> list[Path]:
    """Instead of a drawing: what would be drawn."""
    file = Path("out/drawn")
    file.parent.mkdir(exist_ok=True)
    file.write_text(repr(what))
    return [file]


def leave_out_what_takes_time() -> None:
    """Measuring, drawing, and taking the same words apart again."""
    make_quick()
    parsed = cache(lambda text: pickle.dumps(parse_yaml(text)))
    instead: list[tuple[Any, str, Any]] = [
        (app, "app", Parsed()),
        (estimate, "peak_flops", lambda *_: 1e12),
        (curves, "exact_match_by_length", write_down),
        (draw, "draw", lambda *_: []),
        (analyse, "_draw", lambda *_: []),
        (analyse, "_draw_attention", lambda *_: ({}, [])),
        *((module, "parse_yaml", lambda text: pickle.loads(parsed(text))) for module in (yaml_text, load, presets)),
    ]
    for module, name, quicker in instead:
        assert hasattr(module, name), f"{name} has moved; left where it is, it takes its time again"
        setattr(module, name, quicker)


if __name__ == "__main__":
    leave_out_what_takes_time()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        os.environ["LENGTHLAB_RUNS"] = str(Path(place).resolve() / "runs")
        Path("mine.yaml").write_text(json.dumps(EXPERIMENT))
        one, other = (planned.config for planned in trials(load_experiment("mine.yaml"), "smoke", [1, 2]))
        make("finished", other)
        finished = make("finished", one)
        expected, opened = numbers(finished), Opened()
        told = {"finished": try_all(finished, expected, opened)}
        shutil.rmtree(finished.path)
        told["interrupted"] = try_all(make("interrupted", one), expected, opened)
        print(json.dumps(told))
