"""Choosing precision and compilation."""

import shutil

import pytest
import torch

from lengthlab.config.load import load_config
from lengthlab.config.training import TrainingOptions
from lengthlab.errors import UserError
from lengthlab.model.build import device_of
from lengthlab.training import hardware
from lengthlab.training.cost import count_work
from lengthlab.training.hardware import BREAK_EVEN_FLOPS, choose

pytestmark = pytest.mark.numeric


def test_auto_takes_bf16_only_where_the_processor_has_it(bf16: bool) -> None:
    assert choose(TrainingOptions(), 0).precision is (torch.bfloat16 if bf16 else torch.float32)
    assert choose(TrainingOptions(precision="fp32"), 0).precision is torch.float32
    forced = choose(TrainingOptions(precision="bf16"), 0)
    assert forced.precision is torch.bfloat16
    assert bool(forced.notes) is not bf16


def test_without_a_claim_the_processor_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LENGTHLAB_BF16", raising=False)
    for capabilities, fast in [({"avx512_bf16": True}, True), ({"amx_bf16": True}, True), ({"avx2": True}, False)]:
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda found=capabilities: found)
        assert hardware.has_fast_bf16() is fast


def test_compile_is_used_for_long_runs_or_when_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "has_compiler", lambda: True)
    monkeypatch.setattr(hardware, "kernels_here", lambda: False)
    short, long = 1e10, 1e16
    assert not choose(TrainingOptions(), short).compile
    assert choose(TrainingOptions(), long).compile
    assert choose(TrainingOptions(compile="on"), short).compile
    assert not choose(TrainingOptions(compile="off"), long).compile
    monkeypatch.setattr(hardware, "kernels_here", lambda: True)  # which do the same, without waiting
    assert not choose(TrainingOptions(), long).compile and choose(TrainingOptions(compile="on"), long).compile


@pytest.mark.parametrize(
    ("recipe", "pays"), [("zhou2024-mini", False), ("coupling-relative-mini", False), ("lee2023", True)]
)
def test_laptop_recipes_are_too_short_to_compile_and_the_paper_s_runs_are_not(recipe: str, pays: bool) -> None:
    assert (count_work(load_config(recipe)).flops > BREAK_EVEN_FLOPS[torch.float32]) == pays


def test_without_a_compiler_everything_runs_and_it_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    choice = choose(TrainingOptions(compile="on", precision="fp32"), 0)
    assert not choice.compile
    assert choice.notes == ("no C++ compiler found: training runs without torch.compile",)


def test_a_gpu_that_is_not_there_is_refused_and_auto_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose(TrainingOptions(), 0).device == choose(TrainingOptions(device="cpu"), 0).device == torch.device("cpu")
    with pytest.raises(UserError, match=r"training\.device: torch finds no GPU here; use auto or cpu"):
        choose(TrainingOptions(device="cuda"), 0)


def test_each_process_has_a_gpu_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert device_of("auto") == torch.device("cuda", 3)
    assert device_of("cpu") == torch.device("cpu")
