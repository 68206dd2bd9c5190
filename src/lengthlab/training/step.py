"""One training step: batches, loss, gradients, update."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from lengthlab.batches import Batch, Pipeline
from lengthlab.config import Config
from lengthlab.errors import RunFailed
from lengthlab.formats.vocabulary import PAD
from lengthlab.model.build import build_model
from lengthlab.model.memory import keep_freed_memory
from lengthlab.model.transformer import Transformer
from lengthlab.optimizers import OPTIMIZERS
from lengthlab.seeding import torch_generator
from lengthlab.training.ahead import Ahead
from lengthlab.training.bf16 import Fp32Products
from lengthlab.training.hardware import Hardware, choose
from lengthlab.training.packing import pack, packed_loss
from lengthlab.training.schedule import longest_digits, rate_factor
from lengthlab.training.work import count_work
from lengthlab.training.world import World

PACKED_ROWS = 16  # packed rows with one backward pass


def answer_loss(model: Callable[..., Tensor], batch: Batch) -> tuple[Tensor, Tensor]:
    """Summed cross-entropy and number of right tokens over the answer, its end included."""
    logits = model(batch.inputs, batch.positions, first=batch.answer - 1, prompt=batch.answer)  # (B, A, V)
    targets = batch.targets
    loss = F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), ignore_index=PAD, reduction="sum")
    with torch.no_grad():
        right = ((logits.argmax(-1) == targets) & (targets != PAD)).sum()
    return loss, right


class Engine:
    """A model with its optimizers, and how one step changes them. It depends on the config and the step alone."""

    def __init__(self, config: Config, world: World = World()) -> None:  # noqa: B008 (a World is immutable)
        keep_freed_memory()
        self.config = config
        self.world = world
        self.pipeline = Pipeline(config)
        self.model: Transformer = build_model(config, len(self.pipeline.format.vocabulary))
        self.hardware: Hardware = choose(config.training, count_work(config, self.model, self.pipeline).flops)
        self.device = self.hardware.device
        self.model.to(self.device)
        self.products = Fp32Products() if self.hardware.emulates else nullcontext()
        on_gpu = self.device.type == "cuda"
        rows = config.training.rows
        self.packed = rows == "packed" or (rows == "auto" and on_gpu and config.training.pack > 0 and self.model.flexes)
        self.drawn = Ahead(self._draw, enabled=on_gpu)  # on a CPU nobody waits for anybody
        options = config.training.optimizer
        self.optimizers = OPTIMIZERS[options.kind].load()(options).build(self.model, self.hardware.precision)
        self.peak_rates = [[group["lr"] for group in optimizer.param_groups] for optimizer in self.optimizers]
        if self.hardware.compile:
            self.model.fuse()

    def step(self, step: int) -> dict[str, Any]:
        """Draw the step's batches and train on them; returns the step's metrics."""
        started = time.perf_counter()
        batches = self.drawn[step]
        metrics = self.train_on(batches, step)
        tokens = sum(batch.tokens.numel() for batch in batches)
        longest = longest_digits(step, self.config.training)
        counts = {"longest": longest, "examples": sum(len(batch.tokens) for batch in batches), "tokens": tokens}
        return metrics | counts | {"tokens_per_second": tokens / (time.perf_counter() - started)}

    def _draw(self, step: int) -> list[Batch]:
        return self.pipeline.training_batches(step, longest_digits(step, self.config.training))

    def train_on(self, batches: list[Batch], step: int) -> dict[str, Any]:
        """Forward and backward over all batches, one update of all weights."""
        training = self.config.training
        counted = sum(int((batch.targets != PAD).sum()) for batch in batches)
        if self.config.model.dropout:
            seed = torch_generator(self.config.seeds.sampling, "dropout", step, self.world.rank).initial_seed()
            torch.manual_seed(seed)
        with self.products:
            loss, right = self.world.sum(*self._backward(batches, counted))
        _require_finite("loss", loss, step)
        with self.products:
            norm = self._update(rate_factor(step, training.steps, training.schedule), step)
        return {"step": step + 1, "loss": loss / counted, "accuracy": right / counted, "gradient_norm": norm}

    def _backward(self, batches: list[Batch], counted: int) -> tuple[float, float]:
        """Gradients of the mean loss over all counted tokens; returns this process's summed loss and right tokens."""
        total, right = 0.0, 0.0
        precision = self.hardware.precision
        for losses in self._losses([part for batch in batches if (part := self.world.share(batch)) is not None]):
            with torch.autocast(self.device.type, torch.bfloat16, enabled=precision is torch.bfloat16):
                loss, correct = losses()
            (loss / counted).backward()
            total, right = total + loss.item(), right + int(correct)
        return total, right

    def _losses(self, batches: list[Batch]) -> Iterator[Callable[[], tuple[Tensor, Tensor]]]:
        """What to compute one after the other, each with its own backward pass: batches, or rows of packed examples."""
        if not self.packed:
            for batch in batches:
                yield partial(answer_loss, self.model, batch.to(self.device))
        elif batches:
            packed = pack(batches, self.config.training.pack)
            for start in range(0, len(packed.tokens), PACKED_ROWS):
                rows = packed.rows(start, start + PACKED_ROWS)
                yield partial(packed_loss, self.model, rows.to(self.device))

    def _update(self, factor: float, step: int) -> float:
        self.world.sum_gradients(self.model)
        clipped = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.training.clip or math.inf)
        norm = clipped.item()
        _require_finite("gradient", norm, step)
        for optimizer, rates in zip(self.optimizers, self.peak_rates, strict=True):
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * factor
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return norm

    def require_finite_weights(self, step: int) -> None:
        """End the run rather than keep weights that are ruined."""
        total = sum(parameter.detach().sum().item() for parameter in self.model.parameters())
        _require_finite("sum of the weights", total, step)


def _require_finite(what: str, value: float, step: int) -> None:
    if not math.isfinite(value):
        advice = "try a lower training.optimizer.rate or training.clip"
        raise RunFailed(f"the {what} became {value} at step {step}; {advice}")
