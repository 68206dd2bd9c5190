"""Many examples in rows of one length, as the paper trains: they share a row but do not see each other.

A GPU wants few large batches, and lengths that vary from row to row would leave it idle: so the examples of a step are
laid end to end in rows of `training.pack` tokens. On a CPU the dense batches of one length each are faster, and their
loss and gradients are the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from lengthlab.batches import Batch, on_device
from lengthlab.formats.vocabulary import PAD
from lengthlab.model.flex import Documents


@dataclass(frozen=True)
class Packed:
    """Rows of packed examples, (R, T) each."""

    tokens: Tensor
    targets: Tensor  # the token that follows, where it belongs to an answer; else PAD, which does not count
    documents: Documents
    positions: tuple[Tensor, ...]  # ids for each encoding; every example has its own, from the start again

    def rows(self, start: int, stop: int) -> "Packed":
        """The rows start..stop-1."""
        part = slice(start, stop)
        documents = self.documents
        return Packed(
            self.tokens[part],
            self.targets[part],
            Documents(documents.number[part], documents.index[part], documents.question[part]),
            tuple(ids[part] for ids in self.positions),
        )

    def to(self, device: torch.device) -> "Packed":
        """The same on a device, copied while the processor carries on."""

        def move(tensor: Tensor) -> Tensor:
            return on_device(tensor, device)

        documents = self.documents
        return Packed(
            move(self.tokens),
            move(self.targets),
            Documents(move(documents.number), move(documents.index), move(documents.question)),
            tuple(map(move, self.positions)),
        )


def pack(batches: Sequence[Batch], columns: int) -> Packed:
    """All examples of a step, in order, each in the first row that has room after the one before it."""
    lengths = np.concatenate([np.full(len(batch.tokens), batch.inputs.shape[1]) for batch in batches])
    if lengths.max() > columns:
        raise ValueError(f"rows of {columns} tokens cannot hold an example of {lengths.max()}")
    rows, starts = _places(lengths, columns)
    shape = (int(rows[-1]) + 1, columns)
    tokens, targets = torch.full(shape, PAD), torch.full(shape, PAD)
    number, index = torch.full(shape, -1), torch.zeros(shape, dtype=torch.long)
    question = torch.zeros(shape, dtype=torch.bool)
    positions = tuple(torch.zeros(shape, dtype=torch.long) for _ in batches[0].positions)
    done = 0
    for batch in batches:
        count, length = batch.inputs.shape
        mine = slice(done, done + count)
        within = torch.arange(length)
        at = (torch.from_numpy(rows[mine])[:, None], torch.from_numpy(starts[mine])[:, None] + within)
        tokens[at] = batch.inputs
        counted = batch.tokens[:, 1:].clone()
        counted[:, : batch.answer - 1] = PAD
        targets[at] = counted
        number[at] = torch.arange(done, done + count)[:, None].expand(count, length)
        index[at] = within.expand(count, length)
        question[at] = (within < batch.answer).expand(count, length)
        for packed, ids in zip(positions, batch.positions, strict=True):
            packed[at] = ids[:, :length].expand(count, length)
        done += count
    return Packed(tokens, targets, Documents(number, index, question), positions)


def _places(lengths: NDArray[np.int64], columns: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The row and the first column of each example."""
    rows, starts = np.empty(len(lengths), dtype=np.int64), np.empty(len(lengths), dtype=np.int64)
    row = column = 0
    for example, length in enumerate(lengths.tolist()):
        if column + length > columns:
            row, column = row + 1, 0
        rows[example], starts[example] = row, column
        column += length
    return rows, starts


def packed_loss(model: Callable[..., Tensor], packed: Packed) -> tuple[Tensor, Tensor]:
    """Summed cross-entropy and number of right tokens over all answers, their ends included."""
    logits = model(packed.tokens, packed.positions, documents=packed.documents)  # (R, T, V)
    targets, counted = packed.targets, packed.targets != PAD
    loss = F.cross_entropy(logits[counted].float(), targets[counted], reduction="sum")
    with torch.no_grad():
        right = (logits.argmax(-1)[counted] == targets[counted]).sum()
    return loss, right
