"""One training step: batches, loss, gradients, update."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor
from torch.nn import functional as F

from lengthlab.batches import Batch, Pipeline
from lengthlab.config.schema import Config
from lengthlab.errors import RunFailed
from lengthlab.formats.vocabulary import PAD
from lengthlab.model.build import build_model, keep_freed_memory
from lengthlab.model.kernels.threads import kernels_take_threads
from lengthlab.model.transformer import Transformer
from lengthlab.optimizers import OPTIMIZERS
from lengthlab.seeding import torch_generator
from lengthlab.training.cost import count_work
from lengthlab.training.hardware import Fp32Products, Hardware, choose
from lengthlab.training.packing import pack, packed_loss
from lengthlab.training.schedule import Mastery, longest_digits, loops, rate_factor, sharpness
from lengthlab.training.world import World

PACKED_ROWS = 16  # packed rows with one backward pass
TOKENS_AT_ONCE = 2**14  # with one backward pass on a CPU: more only takes more memory


def answer_loss(model: Callable[..., Tensor], batch: Batch) -> tuple[Tensor, Tensor]:
    """Summed cross-entropy and number of right tokens over the answer, its end included."""
    logits = model(batch.inputs, batch.positions, first=batch.answer - 1, prompt=batch.answer)  # (B, A, V)
    targets = batch.targets
    loss = F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), ignore_index=PAD, reduction="sum")
    with torch.no_grad():
        right = ((logits.argmax(-1) == targets) & (targets != PAD)).sum()
    return loss, right


class Engine:
    """A model with its optimizers, and how one step changes them.

    What a step draws depends on the config and the step alone; with growth by mastery also on `mastery`, with a finite
    training set also on `seen`.
    """

    def __init__(self, config: Config, world: World = World()) -> None:  # noqa: B008 (a World is immutable)
        keep_freed_memory()
        self.config = config
        self.world = world
        self.pipeline = Pipeline(config)
        self.model: Transformer = build_model(config, len(self.pipeline.format.vocabulary))
        self.hardware: Hardware = choose(config.training, count_work(config).flops)
        self.device = self.hardware.device
        self.model.to(self.device)
        self.products = Fp32Products() if self.hardware.emulates else nullcontext()
        on_gpu = self.device.type == "cuda"
        rows = config.training.rows
        by_mastery = config.training.mastery.accuracy > 0  # judged on batches of one length
        packs = on_gpu and config.training.pack > 0 and self.model.flexes and not by_mastery
        self.packed = rows == "packed" or (rows == "auto" and packs)
        self.mastery = Mastery.at_start(config.training) if by_mastery else None
        self.seen: Counter[int] = Counter()  # how many problems of each length, of a finite training set
        # On a CPU nobody waits for anybody; with mastery a step's lengths are not known before the last one's accuracy,
        # with a finite set its problems not before the last ones are counted.
        self.drawn = Ahead(self._draw, enabled=on_gpu and self.mastery is None and not config.training.examples)
        options = config.training.optimizer
        self.optimizers = OPTIMIZERS[options.kind].load()(options).build(self.model, self.hardware.precision)
        self.peak_rates = [[group["lr"] for group in optimizer.param_groups] for optimizer in self.optimizers]
        if self.hardware.compile:
            self.model.fuse()

    def step(self, step: int) -> dict[str, Any]:
        """Draw the step's batches and train on them; returns the step's metrics."""
        started = time.perf_counter()
        longest = self.longest(step)
        batches = self.drawn[step]
        metrics = self.train_on(batches, step)
        if self.config.training.examples:
            for batch in batches:
                self.seen[batch.digits] += len(batch.tokens)
        tokens = sum(batch.tokens.numel() for batch in batches)
        counts = {"longest": longest, "examples": sum(len(batch.tokens) for batch in batches), "tokens": tokens}
        return metrics | counts | {"tokens_per_second": tokens / (time.perf_counter() - started)}

    def longest(self, step: int) -> int:
        """The longest length that a step draws."""
        if self.mastery:
            self.mastery.keep_pace(step, self.config.training)
            return self.mastery.longest
        return longest_digits(step, self.config.training)

    def _settled(self, step: int) -> float:
        """For how large a share of all steps the full length has been trained on."""
        training = self.config.training
        reached = self.mastery.reached if self.mastery else training.growth * training.steps
        return max(0.0, step - reached) / training.steps if reached >= 0 else 0.0

    def _draw(self, step: int) -> list[Batch]:
        return self.pipeline.training_batches(step, self.longest(step), self._settled(step), self.seen)

    def train_on(self, batches: list[Batch], step: int) -> dict[str, Any]:
        """Forward and backward over all batches, one update of all weights."""
        with kernels_take_threads(self.model.in_kernels and not self.hardware.compile):
            return self._train_on(batches, step)

    def _train_on(self, batches: list[Batch], step: int) -> dict[str, Any]:
        training = self.config.training
        counted = sum(int((batch.targets != PAD).sum()) for batch in batches)
        if self.config.model.dropout:
            seed = torch_generator(self.config.seeds.sampling, "dropout", step, self.world.rank).initial_seed()
            # Before a GPU is used, torch.manual_seed would write down the call stack each time, and keep it.
            (torch.manual_seed if torch.cuda.is_initialized() else torch.default_generator.manual_seed)(seed)
        self.model.sharpness = sharpness(step, training, self.config.seeds.sampling)
        self.model.loops = loops(step, training, self.config.model.loops, self.config.seeds.sampling)
        with self.products:
            loss, right, near, near_right = self.world.sum(*self.backward(batches, counted))
        _require_finite("loss", loss, step)
        with self.products:
            norm = self._update(rate_factor(step, training.steps, training.schedule), step)
        if self.mastery and near:
            self.mastery.record(near_right / near, step, training)
        return {"step": step + 1, "loss": loss / counted, "accuracy": right / counted, "gradient_norm": norm}

    def backward(self, batches: list[Batch], counted: int) -> tuple[float, float, float, float]:
        """Gradients of the mean loss over all counted tokens.

        Returns this process's summed loss and right tokens; then tokens and right ones of batches by which mastery is
        judged.
        """
        total, right, near, near_right = 0.0, 0.0, 0.0, 0.0
        precision = self.hardware.precision
        shares = [share for batch in batches if (share := self.world.share(batch)) is not None]
        parts = [part for share in shares for part in self._split(share)]
        for index, losses in enumerate(self._losses(parts)):
            with torch.autocast(self.device.type, torch.bfloat16, enabled=precision is torch.bfloat16):
                loss, correct = losses()
            (loss / counted).backward()
            total, right = total + loss.item(), right + int(correct)
            if self.mastery and self.mastery.counts(parts[index].digits):
                near, near_right = near + int((parts[index].targets != PAD).sum()), near_right + int(correct)
        return total, right, near, near_right

    def _split(self, batch: Batch) -> list[Batch]:
        """A dense batch in parts that are not too large; whole with dropout, whose random numbers would be others."""
        if self.packed or self.device.type != "cpu" or self.config.model.dropout:
            return [batch]
        rows, columns = batch.tokens.shape
        pieces = -(-rows * columns // TOKENS_AT_ONCE)
        return batch.split(-(-rows // pieces))

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


T = TypeVar("T")


class Ahead(Generic[T]):
    """The next step's examples, drawn while the GPU is busy with this one's.

    `ahead[step]` is `draw(step)`; meanwhile another thread draws step + 1, if that is enabled.
    """

    def __init__(self, draw: Callable[[int], T], enabled: bool) -> None:
        self.draw = draw
        self.executor = ThreadPoolExecutor(1, thread_name_prefix="draw ahead") if enabled else None
        self.waiting: dict[int, Future[T]] = {}

    def __getitem__(self, step: int) -> T:
        if self.executor is None:
            return self.draw(step)
        found = self.waiting.pop(step, None)
        self.waiting = {step + 1: self.executor.submit(self.draw, step + 1)}
        return found.result() if found is not None else self.draw(step)
