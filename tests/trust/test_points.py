"""Single ways in which a run could be lost or changed without a word."""

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch

from lengthlab.config.schema import Config
from lengthlab.encodings.encoding import Shape
from lengthlab.encodings.rope import Rope, RopeOptions
from lengthlab.errors import UserError
from lengthlab.paper.collect import error_rows
from lengthlab.runs.files import write_atomically
from lengthlab.runs.run import Run
from lengthlab.training import estimate
from lengthlab.training.checkpoint import load_checkpoint, save_checkpoint
from lengthlab.training.loop import Trainer, Watcher

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(trained: Path, runs_folder: Path) -> Run:
    """A finished run, to be damaged."""
    shutil.copytree(trained, runs_folder / trained.name)
    return Run(runs_folder / trained.name)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-9] ^= 1
    path.write_bytes(content)


def resume(run: Run) -> list[str]:
    notes: list[str] = []
    Trainer(run.config, run, Watcher(note=notes.append)).train()
    return notes


@pytest.mark.parametrize("damage", [Path.unlink, flip, lambda path: path.write_bytes(b"garbage")])
def test_weights_are_written_anew_from_the_checkpoint(damage: Callable[[Path], None], run: Run) -> None:
    before = run.weights.read_bytes()
    damage(run.weights)
    run.set_status("running")  # as a process that was killed while it tested leaves it
    notes = resume(run)
    assert run.weights.read_bytes() == before and run.status["state"] == "finished" and not run.damage()
    assert any("model.safetensors" in note and "written anew" in note for note in notes)


def test_a_config_that_is_gone_comes_from_the_checkpoint(run: Run, lengthlab: Command) -> None:
    before = (run.path / "config.yaml").read_bytes()
    (run.path / "config.yaml").unlink()
    status, _, err = lengthlab("evaluate", run.id)
    assert status == 2 and "config.yaml: damaged (missing); lengthlab train --resume" in err
    assert lengthlab("train", "--resume", run.id)[0] == 0
    assert (run.path / "config.yaml").read_bytes() == before and lengthlab("evaluate", run.id)[0] == 0


def test_a_run_without_its_metrics_resumes_on_trust_alone(run: Run, lengthlab: Command) -> None:
    (run.path / "metrics.jsonl").unlink()
    status, _, err = lengthlab("train", "--resume", run.id)
    assert status == 2 and "metrics.jsonl has 0 of the" in err and "--trust" in err
    run.set_status("interrupted")
    assert lengthlab("train", "--resume", run.id)[0] == 2
    assert lengthlab("train", "--resume", run.id, "--trust")[0] == 0


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("config.yaml", b"order: reversed", b"order: standard"), ("evaluation.json", b'"low": 0', b'"low": 1')],
)
def test_an_edited_file_is_used_on_trust_alone(name: str, old: bytes, new: bytes, run: Run, lengthlab: Command) -> None:
    content = (run.path / name).read_bytes()
    if old not in content:
        old, new = old.replace(b"reversed", b"standard"), new.replace(b"standard", b"reversed")
    assert old in content
    (run.path / name).write_bytes(content.replace(old, new, 1))
    if name == "config.yaml":
        status, _, err = lengthlab("evaluate", run.id)
        assert status == 2 and "changed since training began" in err
        assert lengthlab("evaluate", run.id, "--trust")[0] == 0
    _, _, err = lengthlab("runs")
    assert name in err and "changed since" in err
    assert not lengthlab("runs", "--trust")[2]


def test_a_folder_s_name_is_checked_where_the_status_says_nothing(run: Run, lengthlab: Command) -> None:
    text = (run.path / "config.yaml").read_text()
    (run.path / "config.yaml").write_text(text.replace("steps: 20", "steps: 21"))
    (run.path / "status.json").write_text('{"state": "finished"}')
    status, _, err = lengthlab("evaluate", run.id)
    assert status == 2 and "not that of the folder" in err


def test_an_edited_config_is_not_shown_as_the_run_s(run: Run, lengthlab: Command) -> None:
    text = (run.path / "config.yaml").read_text()
    (run.path / "config.yaml").write_text(text.replace("steps: 20", "steps: 21"))
    for command in (["config", run.id], ["config", run.id, "seed=2"], ["diff", run.id, "smoke"]):
        status, _, err = lengthlab(*command)
        assert status == 2 and "changed since training began" in err, command
    assert "steps: 21" in lengthlab("config", run.id, "--trust")[1]


def test_an_edited_analysis_is_not_collected(run: Run) -> None:
    run.save_errors([{"digits": 5, "examples": 9, "wrong": 3, "measure": "wrong", "key": "one", "value": 0.5}])
    assert error_rows(run) and not run.damage()
    run.errors.write_text(run.errors.read_text().replace("0.5", "0.6"))
    with pytest.raises(UserError, match=r"errors\.json: damaged \(changed since it was written\)"):
        error_rows(run)
    run.errors.unlink()  # as the message advises
    assert not error_rows(run) and not run.damage()


def test_a_run_without_its_status_is_used_on_trust_alone(run: Run, lengthlab: Command) -> None:
    """Without it there is no telling whether anything else is what was written."""
    (run.path / "status.json").unlink()
    status, _, err = lengthlab("evaluate", run.id)
    assert status == 2 and "status.json: damaged (no state)" in err
    assert lengthlab("evaluate", run.id, "--trust")[0] == 0
    assert lengthlab("train", "--resume", run.id)[0] == 0 and lengthlab("evaluate", run.id)[0] == 0


def test_a_model_card_says_which_runs_beside_it_cannot_be_read(run: Run, tmp_path: Path, lengthlab: Command) -> None:
    shutil.copytree(run.path, run.path.with_name("sibling"))
    (run.path.with_name("sibling") / "evaluation.json").write_text("[")
    status, _, err = lengthlab("export", run.id, "--to", str(tmp_path / "model"), "--no-onnx")
    assert status == 0 and "sibling/evaluation.json (not valid JSON)" in err


def test_one_bit_of_the_weights_is_noticed(run: Run, lengthlab: Command) -> None:
    flip(run.weights)
    status, _, err = lengthlab("evaluate", run.id)
    assert status == 2 and "model.safetensors: damaged (changed since it was written)" in err
    assert lengthlab("evaluate", run.id, "--trust")[0] == 0


def test_runs_of_earlier_versions_have_no_checksums(run: Run, lengthlab: Command) -> None:
    """As such a version leaves it: no list of files, no count of metrics, no config in the checkpoint."""
    known = {name: value for name, value in run.status.items() if name not in ("files", "checksum", "parameters")}
    (run.path / "status.json").write_text(json.dumps(known | {"state": "interrupted"}))
    loaded = load_checkpoint(run.checkpoints, 20)
    progress = {name: value for name, value in loaded.values["progress"].items() if name != "best_sha256"}
    state = loaded.tensors | loaded.values | {"progress": progress}
    save_checkpoint(run.checkpoints, 20, run.id, state, 1)
    before = hashlib.sha256(run.weights.read_bytes()).hexdigest()
    assert lengthlab("evaluate", run.id)[::2] == (0, "")
    assert lengthlab("train", "--resume", run.id)[0] == 0
    assert hashlib.sha256(run.weights.read_bytes()).hexdigest() == before and not run.damage()


def test_a_run_that_needs_more_memory_than_there_is_leaves_nothing(
    smoke: Callable[..., Config], runs_folder: Path
) -> None:
    config = smoke("model.width=65536", "model.heads=64", "model.layers=100")
    with pytest.raises(UserError, match=r"needs .* GB .* but only .* GB is available; reduce model\.width"):
        Trainer(config, Run.of(config), Watcher())
    assert not runs_folder.exists()
    estimate.require_memory(smoke())


@pytest.mark.parametrize(
    ("lower", "overrides"),
    [
        ("batch", ("training.batch=1000000", "training.accumulate=10000")),
        ("batch", ("training.batch=100000", "positions.maximum=1000000", "positions.per=sequence")),
        ("batch", ("training.batch=1000000", "training.pack=1000000")),
        ("examples", ("training.examples=1000000000000",)),
    ],
)
def test_examples_need_memory_too(lower: str, overrides: Sequence[str], smoke: Callable[..., Config]) -> None:
    with pytest.raises(UserError, match=rf"needs .* GB .* but only .* GB is available; reduce training\.{lower}"):
        estimate.require_memory(smoke(*overrides))


def test_a_status_that_is_trusted_may_say_anything(run: Run, lengthlab: Command) -> None:
    status = run.status | {"best": {"exact_match": "high"}, "parameters": "many"}
    (run.path / "status.json").write_text(json.dumps(status))
    assert lengthlab("train", "--resume", run.id, "--trust")[0] == 0
    assert lengthlab("runs", "--trust")[::2] == (0, "")


def test_a_run_without_its_last_weights_is_not_told_to_use_them(run: Run, lengthlab: Command) -> None:
    run.weights.unlink()
    status, _, err = lengthlab("evaluate", run.id)
    assert status == 2 and "model.safetensors: damaged (missing)" in err and "use --weights last" not in err


@pytest.mark.parametrize("wrong", ["[1]", "[]", "0"])
def test_a_seed_does_not_hide_a_mistake_in_seeds(wrong: str, lengthlab: Command) -> None:
    status, _, err = lengthlab("train", "smoke", f"seeds={wrong}", "seed=3", "--dry-run")
    assert status == 2 and "seeds: should be a section" in err


def test_an_error_of_the_system_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error:
        write_atomically(tmp_path / "missing" / "page.html", "")
    assert error.value.filename == str(tmp_path / "missing" / "page.html")


def test_the_angles_of_rope_are_exact_for_large_ids() -> None:
    """Against float64 throughout: in float32 the angle of id 5,000 is off by 1e-4 and more."""
    rope = Rope(RopeOptions(kind="rope"), Shape(16, 1))
    x = torch.randn(1, 1, 1, 16, generator=torch.Generator().manual_seed(0))
    ids = torch.tensor([[4999]])
    turned, _ = rope.rotate(x, x, ids, ids)
    angles = 4999 / 10_000.0 ** (torch.arange(0, 16, 2, dtype=torch.float64) / 16)
    first, second = x.double().split(8, dim=-1)
    exact = torch.cat([first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()], -1)
    assert (turned.double() - exact).abs().max() < 1e-6


def test_the_doctor_finds_a_sound_run_sound_and_names_what_is_not(run: Run, lengthlab: Command) -> None:
    status, out, _ = lengthlab("doctor", run.id)
    assert status == 0 and "nothing to mend" in out
    flip(run.weights)
    (run.path / ".metrics.jsonl.17.part").touch()
    flip(run.checkpoints / "00000020.safetensors")
    status, out, _ = lengthlab("doctor", run.id)
    assert status == 1 and "model.safetensors: changed since it was written" in out and "3 things to mend" in out
    assert "no other is whole" in out
    (run.checkpoints / "00000010.json").write_text("")
    flip(run.checkpoints / "00000020.safetensors")  # back
    assert "another is whole" in lengthlab("doctor", run.id)[1]


def test_the_doctor_checks_the_installation(lengthlab: Command) -> None:
    _, out, _ = lengthlab("doctor", "--json")
    checked = {entry["what"] for entry in json.loads(out)}
    assert {"python", "torch", "C++ compiler", "bf16", "memory", "runs"} <= checked
