"""From a config to batches of tokens and position ids: tasks -> formats -> positions -> here.

All rows of a batch have the same length, so there is no padding to compute, save where a format leaves out
leading zeros. Each batch depends only on its seed and its number.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthlab.config.schema import Config
from lengthlab.formats import FORMATS
from lengthlab.formats.format import Format, Written
from lengthlab.formats.layout import Layout
from lengthlab.positions import POSITIONS
from lengthlab.positions.ids import PositionIds
from lengthlab.seeding import generator
from lengthlab.tasks import TASKS
from lengthlab.tasks.finite import TrainingSet
from lengthlab.tasks.task import Digits, Problems, Task

TEST_BLOCK = 16  # test problems are drawn in blocks of this size, so that the first k do not depend on how many follow


@dataclass(frozen=True)
class Batch:
    """Rows ready for the model."""

    tokens: Tensor  # (B, T)
    positions: tuple[Tensor, ...]  # for each encoding: ids (1 or B, T)
    answer: int  # first column of the answer
    layout: Layout  # what stands in each column
    digits: int = 0  # length of the problems; known of training batches

    @property
    def inputs(self) -> Tensor:
        return self.tokens[:, :-1]

    @property
    def targets(self) -> Tensor:
        """The answer and its end token (B, A); PAD does not count. Predicted at columns answer-1, answer, ..."""
        return self.tokens[:, self.answer :]

    def followed_by(self, written: list[int]) -> Tensor:
        """The tokens of a single question with what was written after it, all but the last token: the model's input."""
        return torch.cat([self.tokens[:, : self.answer], torch.tensor([written[:-1]], dtype=torch.long)], dim=1)

    def to(self, device: torch.device) -> "Batch":
        """The same rows on a device."""
        if device.type == "cpu":
            return self
        positions = tuple(on_device(ids, device) for ids in self.positions)
        return replace(self, tokens=on_device(self.tokens, device), positions=positions)

    def can_join(self, other: "Batch") -> bool:
        """Whether both can be rows of one batch with the layout and the ids that all its rows share."""
        return (
            len(self.layout.place) == len(other.layout.place) == 1
            and self.answer == other.answer
            and self.tokens.shape[1] == other.tokens.shape[1]
            and all(
                len(mine) == len(theirs) == 1 and torch.equal(mine, theirs)
                for mine, theirs in zip(self.positions, other.positions, strict=True)
            )
        )

    def rows(self, start: int, stop: int) -> "Batch":
        """The rows start..stop-1."""
        positions = tuple(ids if len(ids) == 1 else ids[start:stop] for ids in self.positions)
        return Batch(self.tokens[start:stop], positions, self.answer, self.layout.rows(start, stop), self.digits)

    def split(self, rows: int) -> list["Batch"]:
        """Batches of at most `rows` rows."""
        return [self.rows(start, start + rows) for start in range(0, len(self.tokens), rows)]


def on_device(tensor: Tensor, device: torch.device) -> Tensor:
    """A tensor on a device; to a GPU by way of pinned memory, so that nobody waits for the copy."""
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def joined(batches: Iterable[Batch], rows: int) -> Iterator[Batch]:
    """Neighbours put together up to `rows` rows, where they have the same columns and share their position ids."""
    waiting: list[Batch] = []
    for batch in batches:
        fits = sum(len(other.tokens) for other in waiting) + len(batch.tokens) <= rows
        if waiting and not (fits and waiting[0].can_join(batch)):
            yield _joined(waiting)
            waiting = []
        waiting.append(batch)
    if waiting:
        yield _joined(waiting)


def _joined(batches: list[Batch]) -> Batch:
    first = batches[0]
    if len(batches) == 1:
        return first
    return replace(first, tokens=torch.cat([batch.tokens for batch in batches]))


class Pipeline:
    """Draws problems, writes them and numbers their tokens, as a config says."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.task: Task = TASKS[config.task.kind].load()(config.task)
        self.format: Format = FORMATS[config.format.kind].load()(config.format, self.task)
        self.positions: list[PositionIds] = [POSITIONS[p.positions.kind].load()(p.positions) for p in config.pairs]
        training, seeds = config.training, config.seeds
        shares = dict(enumerate(self.length_weights(training.digits), start=1))
        self.training_set = (
            TrainingSet(self.task, training.examples, shares, seeds.data, seeds.order) if training.examples else None
        )

    def training_batches(
        self, step: int, longest: int, settled: float = 1.0, seen: Mapping[int, int] | None = None
    ) -> list[Batch]:
        """The examples of a training step, lengths drawn from 1..longest, as one dense batch for each length.

        Without packing a step has `accumulate` batches, each of one length. With it, each example has a length of its
        own, and there are as many as fill `batch` rows of `pack` tokens. `settled` is for how large a share of all
        steps the full length has been trained on, for ids that spread out late. With a finite training set, `seen` says
        how many problems of each length earlier steps had.
        """
        seeds, training = self.config.seeds, self.config.training
        finite = self.training_set
        rng = generator(seeds.order, "order", step) if finite else generator(seeds.data, "training problems", step)
        if training.pack:
            lengths = self._draw_lengths(rng, longest, self._examples_to_fill(longest))
            counts = list(zip(*np.unique(lengths, return_counts=True), strict=True))
        else:
            lengths = self._draw_lengths(rng, longest, training.accumulate)
            counts = [(digits, self.batch_size(int(digits))) for digits in lengths]
        sampling = generator(seeds.sampling, "training positions", step)
        batches = []
        now = Counter(seen)
        for digits, count in counts:
            if finite:
                problems = finite.problems(int(digits), now[int(digits)], int(count))
                now[int(digits)] += int(count)
            else:
                problems = self.task.draw(rng, int(digits), int(count))
            written = self.format.write(problems, rng)
            batches.append(replace(self._batch(written, sampling, training=True, settled=settled), digits=int(digits)))
        return batches

    def batch_size(self, digits: int) -> int:
        """How many examples a batch of this length has, if steps are not packed."""
        return self.config.training.batch_size(self.columns(digits))

    def _draw_lengths(self, rng: np.random.Generator, longest: int, count: int) -> NDArray[np.int64]:
        """Lengths in 1..longest: (count,)."""
        if self.config.training.weighting:
            return 1 + rng.choice(longest, size=count, p=self.length_weights(longest))
        return np.array([rng.integers(1, longest + 1)]) if count == 1 else rng.integers(1, longest + 1, size=count)

    def length_weights(self, longest: int) -> NDArray[np.float64]:
        """The probability of each length 1..longest."""
        weights = np.array([self.config.training.length_weight(digits) for digits in range(1, longest + 1)])
        return weights / weights.sum()

    def mean_columns(self, longest: int) -> float:
        """The mean number of tokens of a training example whose length is drawn from 1..longest."""
        return float(self.length_weights(longest) @ [self.columns(digits) for digits in range(1, longest + 1)])

    def _examples_to_fill(self, longest: int) -> int:
        """How many examples of lengths 1..longest fill the packed rows of a step, on average."""
        training = self.config.training
        return max(1, int(training.batch * training.pack / self.mean_columns(longest)))

    def test_batches(
        self, digits: int, examples: int, chain: int = 0, done: int = 0
    ) -> Iterator[tuple[Problems, Batch]]:
        """The first `examples` test problems of a length, in blocks; no generator is shared with training.

        With a `chain`, a carry runs through that many places, or through all if there are fewer. The blocks in which
        all problems are among the first `done` are left out.
        """
        seed, operands = self.config.seeds.test, self.config.evaluation.operands
        for block in range(done // TEST_BLOCK, -(-examples // TEST_BLOCK)):
            rng = generator(seed, "test problems", digits, block)
            if chain:
                problems = self.task.draw_carry_chain(rng, digits, TEST_BLOCK, min(chain, digits))
            elif operands != "uniform":
                problems = self.task.draw_symmetric(rng, digits, TEST_BLOCK, operands == "sparse")
            else:
                problems = self.task.draw(rng, digits, TEST_BLOCK)
            written = self.format.write(problems, rng, training=False)
            batch = self._batch(written, generator(seed, "test positions", digits, block), training=False)
            wanted = min(TEST_BLOCK, examples - block * TEST_BLOCK)
            yield problems.rows(0, wanted), batch.rows(0, wanted)

    def samples(self, digits: int, examples: int) -> tuple[Written, Batch]:
        """A few training examples of one length, to look at."""
        seeds = self.config.seeds
        rng = generator(seeds.data, "samples", digits)
        written = self.format.write(self.task.draw(rng, digits, examples), rng)
        return written, self._batch(written, generator(seeds.sampling, "sample positions", digits), training=True)

    def question(self, operands: tuple[Digits, ...]) -> Batch:
        """Given problems, written with the test seed's hints and ids."""
        seed = self.config.seeds.test
        written = self.format.write(self.task.solve(operands), generator(seed, "question"), training=False)
        return self._batch(written, generator(seed, "question positions"), training=False)

    def _batch(self, written: Written, rng: np.random.Generator, training: bool, settled: float = 1.0) -> Batch:
        schemes = [scheme.settled(settled) for scheme in self.positions]
        ids = [scheme.assign(written.layout, rng, len(written.tokens), training) for scheme in schemes]
        positions = tuple(map(torch.from_numpy, ids))
        return Batch(torch.from_numpy(written.tokens), positions, written.layout.answer, written.layout)

    def columns(self, digits: int) -> int:
        """How many tokens a problem of `digits` digits has at most, spaces of training aside."""
        return self.format.token_count(digits)
