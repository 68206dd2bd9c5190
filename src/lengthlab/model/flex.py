"""Attention over packed rows that computes only the blocks in which examples meet themselves (flex_attention).

It trains on GPUs only; on a CPU it can be run forward, which is how it is tested. It takes no additive bias here: a
learned one would have to be written out for every pair of tokens of a row, and dense batches are cheaper then.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

from lengthlab.config.model import ModelOptions
from lengthlab.encodings.encoding import Encoding


@dataclass(frozen=True)
class Documents:
    """Which of the examples packed into a row each token belongs to, (R, T) each."""

    number: Tensor  # of the example; -1 where the row is filled up
    index: Tensor  # of the token within its example
    question: Tensor  # whether it belongs to the example's question


def suits(options: ModelOptions, encodings: list[Encoding]) -> bool:
    """Whether a model's attention is plain softmax over logits without bias."""
    plain = options.attention == "softmax" and options.log_scaling == "none" and not options.dropout
    return plain and all(type(e).bias is Encoding.bias and type(e).mix is Encoding.mix for e in encodings)


def works_here(device: torch.device) -> bool:
    """Whether it can be used on this device for what is being done: training needs a GPU."""
    return device.type == "cuda" or not torch.is_grad_enabled()


def blocks(documents: Documents, prefix: bool) -> BlockMask:
    """Which blocks of queries and keys are to be computed."""
    number, question = documents.number, documents.question
    rows, columns = number.shape

    def visible(row: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        seen = query >= key
        if prefix:
            seen = seen | (question[row, query] & question[row, key])
        return seen & (number[row, query] == number[row, key])

    return create_block_mask(visible, rows, None, columns, columns, device=str(number.device))


@cache
def _attention(device: str) -> Any:
    return torch.compile(flex_attention) if device == "cuda" else flex_attention


def attend(q: Tensor, k: Tensor, v: Tensor, mask: BlockMask, scale: float) -> Tensor:
    """softmax(scale q k) v within the mask: (B, H, T, D)."""
    return _attention(q.device.type)(q, k, v, block_mask=mask, scale=scale)
