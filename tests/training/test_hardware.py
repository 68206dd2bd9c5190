"""Choosing precision and compilation."""

import pytest
import torch

from lengthlab.config import TrainingOptions
from lengthlab.errors import UserError
from lengthlab.model.device import device_of
from lengthlab.training import hardware
from lengthlab.training.hardware import choose


@pytest.mark.parametrize("fast", [True, False])
def test_auto_takes_bf16_only_where_the_processor_has_it(fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "has_fast_bf16", lambda device: fast)
    assert choose(TrainingOptions()).precision is (torch.bfloat16 if fast else torch.float32)
    assert choose(TrainingOptions(precision="fp32")).precision is torch.float32
    forced = choose(TrainingOptions(precision="bf16"))
    assert forced.precision is torch.bfloat16
    assert bool(forced.notes) is not fast


def test_compile_is_used_for_long_runs_or_when_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "has_compiler", lambda: True)
    assert not choose(TrainingOptions(steps=100)).compile
    assert choose(TrainingOptions(steps=50_000)).compile
    assert choose(TrainingOptions(steps=100, compile="on")).compile
    assert not choose(TrainingOptions(steps=50_000, compile="off")).compile


def test_without_a_compiler_everything_runs_and_it_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware.shutil, "which", lambda name: None)
    choice = choose(TrainingOptions(compile="on", precision="fp32"))
    assert not choice.compile
    assert choice.notes == ("no C++ compiler found: training runs without torch.compile",)


def test_a_gpu_that_is_not_there_is_refused_and_auto_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose(TrainingOptions()).device == choose(TrainingOptions(device="cpu")).device == torch.device("cpu")
    with pytest.raises(UserError, match=r"training\.device: torch finds no GPU here; use auto or cpu"):
        choose(TrainingOptions(device="cuda"))


def test_each_process_has_a_gpu_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert device_of("auto") == torch.device("cuda", 3)
    assert device_of("cpu") == torch.device("cpu")
