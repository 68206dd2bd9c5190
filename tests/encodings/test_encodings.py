"""What only some encodings do (the contracts of all of them are in `lengthlab.config.contracts`)."""

import pytest
import torch

from lengthlab.config.contracts.encodings import build, sample
from lengthlab.encodings import ENCODINGS


@pytest.mark.parametrize("name", ENCODINGS.names())
@torch.no_grad()
def test_every_encoding_but_none_acts(name: str) -> None:
    """With its parameters moved off their start, the encoding changes the output for other ids, or is contextual."""
    model, (tokens, ids) = build(name, {}), sample(12)
    changed = not torch.allclose(model(tokens, [ids]), model(tokens, [ids.flip(1)]), atol=1e-5)
    assert changed == (name not in ("none", "cope"))
