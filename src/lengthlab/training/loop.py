"""The training loop."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor
from torch.nn import functional as F
from torch.optim import Optimizer

from lengthlab import environment
from lengthlab.batches import Batch, Pipeline
from lengthlab.config import Config
from lengthlab.errors import RunFailed
from lengthlab.evaluation.exact_match import evaluate
from lengthlab.files import write_atomically
from lengthlab.formats.vocabulary import PAD
from lengthlab.model.build import build_model
from lengthlab.model.transformer import Transformer
from lengthlab.optimizers import OPTIMIZERS
from lengthlab.runs import Run
from lengthlab.seeding import torch_generator
from lengthlab.training.hardware import Hardware, choose
from lengthlab.training.schedule import longest_digits, rate_factor


@dataclass(frozen=True)
class Watcher:
    """Who hears of the progress. `metrics` gets what metrics.jsonl gets; `note` gets sentences."""

    metrics: Callable[[dict[str, Any]], None] = lambda line: None
    note: Callable[[str], None] = lambda text: None


def answer_loss(model: Callable[..., Tensor], batch: Batch) -> tuple[Tensor, Tensor]:
    """Summed cross-entropy and number of right tokens over the answer, its end included."""
    logits = model(batch.inputs, batch.positions, first=batch.answer - 1, prompt=batch.answer)  # (B, A, V)
    targets = batch.targets
    loss = F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), ignore_index=PAD, reduction="sum")
    with torch.no_grad():
        right = ((logits.argmax(-1) == targets) & (targets != PAD)).sum()
    return loss, right


class Trainer:
    """Trains one config and writes its run folder."""

    def __init__(self, config: Config, run: Run, watcher: Watcher) -> None:
        self.config = config
        self.run = run
        self.watcher = watcher
        self.hardware: Hardware = choose(config.training)
        self.pipeline = Pipeline(config)
        self.model: Transformer = build_model(config, len(self.pipeline.format.vocabulary))
        self.optimizers = self._build_optimizers()
        self.peak_rates = [[group["lr"] for group in optimizer.param_groups] for optimizer in self.optimizers]
        self.forward: Callable[..., Tensor] = self.model
        if self.hardware.compile:
            self.forward = torch.compile(self.model, dynamic=True)

    def _build_optimizers(self) -> list[Optimizer]:
        options = self.config.training.optimizer
        return OPTIMIZERS[options.kind].load()(options).build(self.model, self.hardware.precision)

    def train(self) -> None:
        """All steps, with metrics and evaluations on the way; whatever happens, the status says it."""
        training = self.config.training
        choices = {"precision": str(self.hardware.precision).removeprefix("torch."), "compile": self.hardware.compile}
        self.run.begin(self.config, environment.describe(**choices))
        untrained = self.pipeline.untrained_ids(training.digits, max(self.config.evaluation.digits))
        for note in (*self.hardware.notes, *untrained):
            self.watcher.note(note)
        step = 0
        try:
            for step in range(training.steps):
                self._report(self.train_step(step))
            self.save()
            self.watcher.note("evaluating")
            self.evaluate()
        except KeyboardInterrupt:
            self.save()
            self.run.set_status("interrupted", step=step, message=f"interrupted at step {step} of {training.steps}")
            raise
        except Exception as error:
            self.run.set_status("failed", step=step, message=str(error))
            raise
        self.run.set_status("finished", step=training.steps)

    def train_step(self, step: int) -> dict[str, Any]:
        """Forward and backward over the step's batches, one update of all weights; returns the step's metrics."""
        training = self.config.training
        started = time.perf_counter()
        longest = longest_digits(step, training)
        batches = self.pipeline.training_batches(step, longest)
        counted = sum(int((batch.targets != PAD).sum()) for batch in batches)
        if self.config.model.dropout:
            torch.manual_seed(torch_generator(self.config.seeds.sampling, "dropout", step).initial_seed())
        total, right = 0.0, 0
        for batch in batches:
            with torch.autocast("cpu", torch.bfloat16, enabled=self.hardware.precision is torch.bfloat16):
                loss, correct = answer_loss(self.forward, batch)
            (loss / counted).backward()
            total, right = total + loss.item(), right + int(correct)
        if not math.isfinite(total):
            raise RunFailed(
                f"the loss became {total} at step {step}; try a lower training.optimizer.rate or training.clip"
            )
        norm = self._update(rate_factor(step, training.steps, training.schedule))
        return {
            "step": step + 1,
            "loss": total / counted,
            "accuracy": right / counted,
            "gradient_norm": norm,
            "longest": longest,
            "tokens_per_second": sum(batch.tokens.numel() for batch in batches) / (time.perf_counter() - started),
        }

    def _report(self, metrics: dict[str, Any]) -> None:
        """Log a step, and evaluate after it, when it is time to."""
        training, done = self.config.training, metrics["step"]
        if done % training.log_every == 0 or done == training.steps:
            self._log(metrics)
        every = training.evaluate_every
        if every and training.evaluate_digits and done % every == 0 and done < training.steps:
            rows = evaluate(self.model, self.pipeline, training.evaluate_digits, training.evaluate_examples)
            self._log({"step": done, "exact_match": {str(row.digits): row.exact_match for row in rows}})

    def _update(self, factor: float) -> float:
        clip = self.config.training.clip
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), clip or math.inf)
        for optimizer, rates in zip(self.optimizers, self.peak_rates, strict=True):
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * factor
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return norm.item()

    def _log(self, metrics: dict[str, Any]) -> None:
        self.run.log(metrics)
        self.watcher.metrics(metrics)

    def evaluate(self) -> None:
        """Exact match for every length of the config, into the run folder."""
        options = self.config.evaluation
        rows = evaluate(self.model, self.pipeline, options.digits, options.examples, options.chain)
        self.run.save_evaluation([row.as_dict() for row in rows])

    def save(self) -> None:
        """The weights, into the run folder."""
        write_atomically(self.run.weights, save(dict(unique_tensors(self.model))))


def unique_tensors(model: torch.nn.Module) -> Sequence[tuple[str, Tensor]]:
    """Named parameters and buffers; one that several layers share is named once."""
    return [
        (name, tensor.detach().contiguous()) for name, tensor in (*model.named_parameters(), *model.named_buffers())
    ]
