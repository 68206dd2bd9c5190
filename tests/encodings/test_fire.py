"""FIRE against its formula, written out in plain Python."""

import math

import pytest
import torch

from lengthlab.encodings.encoding import Shape
from lengthlab.encodings.fire import Fire, FireOptions


def formula(fire: Fire, i: int, j: int, head: int) -> float:
    """b(i, j) = f(psi(i - j) / psi(max(L, i))) with psi(x) = log(c x + 1), Li et al. 2023."""
    c, threshold = fire.c.item(), fire.threshold.item() * fire.initial_threshold
    ratio = math.log(c * (i - j) + 1) / (math.log(c * max(threshold, i) + 1) + 1e-6)
    weight, offset = fire.hidden.weight.flatten().tolist(), fire.hidden.bias.tolist()
    hidden = [max(0.0, w * ratio + b) for w, b in zip(weight, offset, strict=True)]
    row, bias = fire.output.weight[head].tolist(), fire.output.bias[head].item()
    return sum(w * h for w, h in zip(row, hidden, strict=True)) + bias


@pytest.mark.parametrize("threshold", [4.0, 512.0])
def test_bias_equals_the_formula(threshold: float) -> None:
    torch.manual_seed(0)
    fire = Fire(FireOptions(kind="fire", c=0.3, threshold=threshold), Shape(width=32, heads=4))
    with torch.no_grad():
        fire.threshold.fill_(1.25)  # as if it had been trained
    ids = [0, 1, 2, 5, 9, 30, 700]
    positions = torch.tensor([ids])
    bias = fire.bias(None, None, positions, positions)
    assert bias.shape == (1, 4, len(ids), len(ids))
    for head in range(4):
        for row, i in enumerate(ids):
            for column, j in enumerate(ids[: row + 1]):
                assert bias[0, head, row, column].item() == pytest.approx(formula(fire, i, j, head), abs=1e-5)


def test_the_paper_s_function_has_two_layers_and_32_units() -> None:
    fire = Fire(FireOptions(kind="fire"), Shape(width=512, heads=8))
    assert sum(p.numel() for p in fire.parameters()) == 1 + 1 + (1 * 32 + 32) + (32 * 8 + 8)


def test_a_hand_computed_value() -> None:
    """With f(x) = relu(x), c = 1, L = 7: b(3, 1) = log 3 / log 8 (the epsilon aside)."""
    fire = Fire(FireOptions(kind="fire", units=1, c=1.0, threshold=7.0), Shape(width=4, heads=1))
    with torch.no_grad():
        for layer in (fire.hidden, fire.output):
            layer.weight.fill_(1.0)
            layer.bias.fill_(0.0)
    value = fire.bias(None, None, torch.tensor([[3]]), torch.tensor([[1]])).item()
    assert value == pytest.approx(math.log(3) / math.log(8), abs=1e-6)
