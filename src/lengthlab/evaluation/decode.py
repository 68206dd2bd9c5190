"""Greedy decoding with cached keys."""

import torch
from torch import Tensor

from lengthlab.batches import Batch
from lengthlab.formats.vocabulary import END, PAD
from lengthlab.model.attention import Cache
from lengthlab.model.transformer import Transformer


@torch.no_grad()
def decode(model: Transformer, batch: Batch) -> Tensor:
    """The model's own answers (B, A): the most likely token again and again, PAD after the end token.

    Only the prompt of `batch` is read. A is the number of tokens of the true answer and its end: what has
    not ended by then is wrong, and is cut there.
    """
    batch = batch.to(model.device)
    wanted = batch.tokens.shape[1] - batch.answer
    produced = torch.full((len(batch.tokens), wanted), PAD, device=model.device)
    ended = torch.zeros(len(batch.tokens), dtype=torch.bool, device=model.device)
    tokens, cache = batch.tokens[:, : batch.answer], Cache()
    for index in range(wanted):
        logits = model(tokens, batch.positions, first=tokens.shape[1] - 1, cache=cache, prompt=batch.answer)
        token = logits[:, -1].argmax(-1)
        produced[:, index] = torch.where(ended, PAD, token)
        ended |= token == END
        if ended.all():
            break
        tokens = token[:, None]
    return produced.cpu()
