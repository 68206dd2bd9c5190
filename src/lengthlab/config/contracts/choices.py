"""Contracts of attention kinds and schedules."""

import math

import torch

from lengthlab.config.axes import ATTENTIONS
from lengthlab.config.contracts import Contract, Options
from lengthlab.config.training import ScheduleOptions
from lengthlab.training.schedule import rate_factor


def weights_are_shares_of_what_may_be_seen(name: str, options: Options) -> None:
    hidden = torch.ones(9, 9, dtype=torch.bool).triu(1)
    logits = torch.randn(2, 3, 9, 9, generator=torch.Generator().manual_seed(0)).masked_fill(hidden, float("-inf"))
    weights = ATTENTIONS[name].load()(logits, -1)
    assert weights.shape == logits.shape and weights.isfinite().all()
    assert (weights >= 0).all() and (weights.sum(-1) <= 1 + 1e-5).all()
    assert (weights.masked_select(hidden) == 0).all(), "no weight goes to what is hidden"


def later_queries_alone_have_the_same_weights(name: str, options: Options) -> None:
    """As in cached decoding, where the queries are the last of the keys."""
    logits = torch.randn(1, 2, 9, 9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    logits = logits.masked_fill(torch.ones(9, 9, dtype=torch.bool).triu(1), float("-inf"))
    weigh = ATTENTIONS[name].load()
    torch.testing.assert_close(weigh(logits[:, :, 5:], -1), weigh(logits, -1)[:, :, 5:])


def rates_are_shares_of_the_peak(name: str, options: Options) -> None:
    for steps, warmup in ((1, 0), (100, 10), (100, 200)):
        schedule = ScheduleOptions(kind=name, warmup=warmup)
        factors = [rate_factor(step, steps, schedule) for step in range(steps)]
        assert all(math.isfinite(factor) and 0 <= factor <= 1 for factor in factors)
        assert max(factors) > 0


OF_ATTENTIONS: list[Contract] = [weights_are_shares_of_what_may_be_seen, later_queries_alone_have_the_same_weights]
OF_SCHEDULES: list[Contract] = [rates_are_shares_of_the_peak]
