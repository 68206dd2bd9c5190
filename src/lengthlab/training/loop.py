"""The training loop."""

import contextlib
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
from lengthlab.runs import Run, State
from lengthlab.seeding import torch_generator
from lengthlab.training.checkpoint import load_newest, restore, save_checkpoint, state_of
from lengthlab.training.hardware import Hardware, choose
from lengthlab.training.interrupt import StopRequest, stop_requests
from lengthlab.training.schedule import longest_digits, rate_factor


@dataclass(frozen=True)
class Watcher:
    """Who hears of the progress. `metrics` gets the lines of metrics.jsonl with the speed; `note` gets sentences."""

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
        self.done = 0  # steps
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

    def train(self, fresh: bool = False) -> None:
        """All steps that are not done yet, then the evaluation; whatever happens, the status says it.

        A run that was cut short goes on from its newest whole checkpoint and ends with the same weights and metrics, to
        the last bit, as if it had not been. `fresh` starts again from nothing.
        """
        steps = self.config.training.steps
        with self.run.lock(), stop_requests() as stop:
            try:
                self.done = self._start(fresh)
                while self.done < steps:
                    metrics = self.train_step(self.done)
                    self.done += 1
                    self._report(metrics)
                    if self.done % self.config.training.checkpoint_every == 0 or self.done == steps or stop.made:
                        self._checkpoint()
                    stop.heed()
                self.watcher.note("evaluating")
                self.evaluate(stop)
            except KeyboardInterrupt:
                self._end("interrupted", f"interrupted at step {self.done} of {steps}")
                raise
            except OSError as error:
                message = (
                    f"cannot use {self.run.path} ({error.strerror}); lengthlab train --resume {self.run.id} goes on"
                )
                self._end("failed", message)
                raise RunFailed(message) from error
            except Exception as error:
                self._end("failed", str(error))
                raise
            self._end("finished", "")

    def _start(self, fresh: bool) -> int:
        """Prepare the run folder and return the number of steps already done."""
        choices = {"precision": str(self.hardware.precision).removeprefix("torch."), "compile": self.hardware.compile}
        described = environment.describe(**choices)
        checkpoint, damaged = load_newest(self.run.checkpoints) if not fresh else (None, [])
        untrained = self.pipeline.untrained_ids(self.config.training.digits, max(self.config.evaluation.digits))
        for note in (*self.hardware.notes, *untrained, *damaged):
            self.watcher.note(note)
        if checkpoint is None:
            self.run.begin(self.config, described)
            return 0
        restore(checkpoint, self.model, self.optimizers)
        self.run.go_on(checkpoint.step, described)
        self.watcher.note(f"going on after step {checkpoint.step}")
        return checkpoint.step

    def _checkpoint(self) -> None:
        """Keep everything that the run needs to go on, and the weights for those who want to look at it now."""
        state = state_of(self.model, self.optimizers)
        save_checkpoint(self.run.checkpoints, self.done, state, self.config.training.keep)
        self.save()

    def _end(self, state: State, message: str) -> None:
        with contextlib.suppress(OSError):  # what keeps us from going on may keep us from saying so
            self.run.set_status(state, step=self.done, message=message)

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
            self.run.log({key: value for key, value in metrics.items() if key != "tokens_per_second"})
            self.run.log_speed(done, metrics["tokens_per_second"])
            self.watcher.metrics(metrics)
        every = training.evaluate_every
        if every and training.evaluate_digits and done % every == 0 and done < training.steps:
            rows = evaluate(self.model, self.pipeline, training.evaluate_digits, training.evaluate_examples)
            scores = {"step": done, "exact_match": {str(row.digits): row.exact_match for row in rows}}
            self.run.log(scores)
            self.watcher.metrics(scores)

    def _update(self, factor: float) -> float:
        clip = self.config.training.clip
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), clip or math.inf)
        for optimizer, rates in zip(self.optimizers, self.peak_rates, strict=True):
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * factor
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return norm.item()

    def evaluate(self, stop: StopRequest) -> None:
        """Exact match for every length of the config, into the run folder."""
        options = self.config.evaluation
        rows = evaluate(
            self.model, self.pipeline, options.digits, options.examples, options.chain, lambda row: stop.heed()
        )
        self.run.save_evaluation([row.as_dict() for row in rows])

    def save(self) -> None:
        """The weights, into the run folder."""
        write_atomically(self.run.weights, save(dict(unique_tensors(self.model))))


def unique_tensors(model: torch.nn.Module) -> Sequence[tuple[str, Tensor]]:
    """Named parameters and persistent buffers; one that several layers share is named once."""
    named = (*model.named_parameters(), *model.named_buffers())
    kept = model.state_dict().keys()
    return [(name, tensor.detach().contiguous()) for name, tensor in named if name in kept]
