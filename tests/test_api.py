"""The Python door: lazy, on the same run folders as the command line, and as its documents say."""

import json
import math
import pydoc
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

import lengthlab as ll
from lengthlab.encodings import ENCODINGS
from lengthlab.encodings.encoding import Encoding

DOCS = Path(__file__).parents[1] / "docs"
SMOKE = Path(__file__).with_name("smoke.yaml")


@pytest.fixture
def run(trained: Path, monkeypatch: pytest.MonkeyPatch) -> ll.Run:
    """A finished run of the smoke recipe."""
    monkeypatch.setenv("LENGTHLAB_RUNS", str(trained.parent))
    return ll.load(trained.name[:6])


def test_importing_brings_nothing_heavy() -> None:
    code = "import sys, lengthlab; dir(lengthlab); sys.exit(bool({'torch', 'numpy', 'pydantic'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    use = "ll.load_config('smoke'), ll.runs(), ll.encodings"
    code = f"import sys, lengthlab as ll; {use}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert all(getattr(ll, name) is not None for name in ll.__all__)
    with pytest.raises(AttributeError, match="no attribute 'trian'"):
        ll.trian  # noqa: B018


def test_a_finished_run_is_returned_at_once(run: ll.Run) -> None:
    before = (run.path / "status.json").stat().st_mtime_ns
    again = ll.train(SMOKE)
    assert again == run and again.finished and (run.path / "status.json").stat().st_mtime_ns == before
    assert [row["digits"] for row in run.scores] == [1, 2, 3, 4, 5]


def test_a_damaged_finished_run_is_mended_or_refused(trained: Path, runs_folder: Path) -> None:
    run = ll.Run(shutil.copytree(trained, runs_folder / trained.name))
    whole = (run.path / "evaluation.json").read_bytes()
    (run.path / "evaluation.json").write_text("[]")
    assert ll.train(SMOKE) == run and (run.path / "evaluation.json").read_bytes() == whole
    (run.path / "evaluation.json").write_text("[]")
    shutil.rmtree(run.checkpoints)
    with pytest.raises(ll.UserError, match=r"evaluation\.json: damaged \(changed"):
        ll.train(SMOKE)


def test_training_from_python_is_training_from_the_command_line(
    run: ll.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[dict[str, object]] = []
    monkeypatch.setenv("LENGTHLAB_RUNS", str(tmp_path / "other"))
    mine = ll.train(SMOKE, watch=lines.append)
    assert mine.path != run.path and mine.id == run.id and mine.status["recipe"] == "smoke"
    assert (mine.path / "metrics.jsonl").read_bytes() == (run.path / "metrics.jsonl").read_bytes()
    assert mine.weights.read_bytes() == run.weights.read_bytes()
    assert mine.scores == run.scores and lines


def test_evaluate_gives_rows(run: ll.Run) -> None:
    rows = run.evaluate("1-2,4", examples=20)
    assert [row["digits"] for row in rows] == [1, 2, 4] and rows.to_dict()["examples"] == [20, 20, 20]
    assert rows == run.evaluate([1, 2, 4], examples=20) and run.evaluate(2, examples=20) == rows[1:2]
    assert run.evaluate()[0]["exact_match"] == run.scores[0]["exact_match"]
    with pytest.raises(ll.UserError, match="digits: 'x' is not a number"):
        run.evaluate("x")
    with pytest.raises(ll.UserError, match=r"format\.hints: 32 hints cannot mark"):
        run.evaluate(40)
    if find_spec("pandas"):
        assert list(rows.to_frame()["digits"]) == [1, 2, 4]
    else:
        with pytest.raises(ll.UserError, match="pandas is not installed"):
            rows.to_frame()


def test_ask_gives_text_tokens_and_probabilities(run: ll.Run) -> None:
    answer = run.ask("12 + 034")
    assert answer.truth == "46" and "".join(answer.tokens) == answer.produced.rstrip(".")
    assert len(answer.tokens) == len(answer.probabilities) and all(0 < p <= 1 for p in answer.probabilities)
    assert answer.correct == (answer.answer == "46" and answer.tokens[-1] == "$")
    assert all(p >= 1 / 100 for p in answer.probabilities)  # greedy: each is the likeliest of fewer than 100 tokens
    assert answer.confidence == pytest.approx(math.prod(answer.probabilities))
    assert str(answer).endswith(f", {answer.confidence:.1%} sure") and str(answer).startswith(
        answer.answer or "".join(answer.tokens)
    )
    for question, reason in (("12", "a question of 2 numbers, such as 123"), ("1+x", "'x' is not a number")):
        with pytest.raises(ll.UserError, match=reason):
            run.ask(question)


def test_a_bundled_model_or_a_run_is_asked_without_training(run: ll.Run) -> None:
    answer = ll.ask("31415926 + 27182818")
    assert answer.correct and str(answer) == "58598744, 100.0% sure"
    assert ll.ask("12+34", model=run.id) == run.ask("12+34")
    for question, model, reason in (("12", "robust", "'12' is not a sum"), ("1+2", "robst", "did you mean robust")):
        with pytest.raises(ll.UserError, match=reason):
            ll.ask(question, model)


def test_rows_and_runs_are_printed_for_readers(run: ll.Run) -> None:
    rows = run.evaluate("1,4", examples=20)
    head, *lines = str(rows).splitlines()
    assert head.split()[:3] == ["digits", "examples", "exact"] and len(lines) == 2
    assert lines[0].split()[:2] == ["1", "20"] and f"{rows[0]['exact_match']:.1%}  [" in lines[0]
    assert len({len(line) for line in (head, *lines)}) == 1 and "low" not in head and len(head) <= 80
    assert rows._repr_html_().count("<tr>") == 3 and str(ll.Rows()) == "no rows"
    assert repr(run) == f"<Run {run.id}: smoke, seed 0, finished, in {run.path}>"
    assert repr(ll.Run(run.path / "nothing")).endswith("nothing: not a run that can be read>")


def test_attention_gives_arrays_with_their_tokens(run: ll.Run) -> None:
    look, model = run.attention("12+34"), run.config.model
    assert look.weights.shape == (model.layers, model.heads, len(look.written), len(look.keys))
    assert abs(look.weights.sum(-1) - 1).max() < 1e-5
    assert look.written == list(run.ask("12+34").tokens)


def test_runs_are_found_and_compared(run: ll.Run) -> None:
    assert ll.runs("encoding = 'fire'") == ll.runs() == [run] and ll.runs("encoding = 'rope'") == []
    with pytest.raises(ll.UserError, match="has no exact match at 3 digits: no run meets it"):
        ll.compare("encoding = 'fire'", "encoding = 'rope'", digits=3)
    with pytest.raises(ll.UserError, match="no run 'zzz'"):
        ll.load("zzz")


def test_help_on_runs_says_how_to_call_it() -> None:
    package = import_module("lengthlab.runs")  # which ll.runs is, once anything has imported it
    assert "`lengthlab.runs(\"encoding = 'fire'" in pydoc.plain(pydoc.render_doc(package))
    call = type(package).__call__
    assert "runs that meet a condition" in (call.__doc__ or "") and call.__annotations__["return"] == "list[Run]"


def test_a_group_is_a_condition_or_a_list_of_runs(make_run: Callable[..., Path]) -> None:
    for seed in range(3):
        for name, score in (("fire", 0.9), ("rope", 0.5)):
            make_run(f"{name}{seed}", {5: score + seed / 100}, {"encoding.kind": name, "seeds.weights": seed})
    fire, rope = (ll.runs(f"encoding = '{name}'") for name in ("fire", "rope"))
    named = ("FIRE", "RoPE")
    told = str(ll.compare("encoding = 'fire'", "encoding = 'rope'", digits=5, names=named))
    assert str(ll.compare(fire, rope, digits=5, names=named)) == told
    assert str(ll.compare(tuple(fire), "encoding = 'rope'", digits=5, names=named)) == told
    assert ll.compare(fire[:1], rope[:1], digits=5).names == ("fire0", "rope0")
    with pytest.raises(ll.UserError, match="has no exact match at 5 digits"):
        ll.compare([], rope, digits=5)
    mistakes: list[Any] = [fire[0], 7, ["fire0"], None]
    for wrong in mistakes:
        with pytest.raises(ll.UserError, match=r"is not a group; give a condition such as .* or a list of runs"):
            ll.compare(wrong, rope, digits=5)


def test_a_killed_run_is_stopped_and_a_damaged_one_is_named(make_run: Callable[..., Path]) -> None:
    dead, broken = make_run("dead"), make_run("broken", {5: 0.5})
    (broken / "config.yaml").write_text("- no\n")
    with pytest.warns(UserWarning, match="skipped 1 damaged or foreign row: broken/config.yaml"):
        assert [run.id for run in ll.runs("state = 'stopped'")] == ["dead"]
    (broken / "config.yaml").write_bytes((dead / "config.yaml").read_bytes())
    with ll.load("dead").lock():
        assert [run.id for run in ll.runs("state = 'running'")] == ["dead"]


@pytest.mark.parametrize("name", [n for n in ENCODINGS.names() if ENCODINGS[n].load().bias is not Encoding.bias])
def test_every_bias_can_be_used_in_somebody_s_own_attention(name: str) -> None:
    torch.manual_seed(0)
    encoding = ENCODINGS[name].load().build(heads=2, head_width=8)
    for parameter in encoding.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    q, k, v = torch.randn(3, 1, 2, 7, 8).unbind()
    positions = torch.arange(7)
    bias = encoding(positions, positions, q, k)
    hidden = torch.ones(7, 7, dtype=torch.bool).triu(1)
    out = scaled_dot_product_attention(q, k, v, attn_mask=bias.masked_fill(hidden, float("-inf")))
    by_hand = (q @ k.mT / 8**0.5 + bias).masked_fill(hidden, float("-inf")).softmax(-1) @ v
    torch.testing.assert_close(out, by_hand, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(out, scaled_dot_product_attention(q, k, v, is_causal=True), atol=1e-4)
    assert torch.equal(bias, encoding.bias(q, k, positions[None], positions[None]))
    if not encoding.contextual:
        assert torch.equal(bias, encoding(positions, positions))
    if list(encoding.parameters()):
        out.square().sum().backward()
        assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in encoding.parameters())


def executed(sources: list[str], folder: Path, python: Any) -> None:
    """Python sources one after the other in one process of their own, where a warning is an error."""
    script = folder / "script.py"
    script.write_text("\n".join(sources))
    done = python.run(str(script), folder=folder, MPLBACKEND="agg", LENGTHLAB_RUNS=str(folder / "runs"))
    assert done.returncode == 0, done.stderr


@pytest.mark.xdist_group("forks")
def test_the_examples_of_the_documentation_run(tmp_path: Path, python: Any) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "python.md").read_text(), flags=re.DOTALL)
    small = [block.replace('"zhou2024-mini", "training.steps=500"', '"smoke", "training.steps=3"') for block in blocks]
    assert sum(block != made for block, made in zip(blocks, small, strict=True)) == 2
    executed(small, tmp_path, python)


@pytest.mark.xdist_group("forks")
def test_the_notebook_runs(tmp_path: Path, python: Any) -> None:
    notebook = json.loads((DOCS / "tour.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 8 and not any(cell["outputs"] for cell in cells)
    executed(["".join(cell["source"]) for cell in cells], tmp_path, python)
