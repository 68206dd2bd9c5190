"""Where a model looks while it writes its answer, small enough to be sent."""

import base64

import numpy as np

from lengthlab.analysis.attention import FloatArray, attention_map
from lengthlab.errors import UserError
from lengthlab.shipped.adder import Adder
from lengthlab.web.schema import Attention, Bias

MOST = 4_000_000  # numbers in one answer


def look(adder: Adder, a: str, b: str) -> Attention:
    """The attention of every layer and head, for every token of the model's own answer."""
    batch = adder.question(a, b)
    options = adder.model.options
    columns, rows = batch.tokens.shape[1], batch.tokens.shape[1] - batch.answer
    if options.layers * options.loops * options.heads * rows * columns > MOST:
        raise UserError("this sum is too long for its attention to be shown; try fewer digits")
    found = attention_map(adder.model, batch, 2, adder.pipeline.format.vocabulary)
    layers, heads = found.weights.shape[:2]
    return Attention(
        keys=found.keys,
        written=found.written,
        due=found.due,
        layers=layers,
        heads=heads,
        data=_bytes(found.weights),
        bias=None if found.bias is None else _bias(found.bias),
    )


def _bias(bias: FloatArray) -> Bias:
    low, high = float(np.nanmin(bias)), float(np.nanmax(bias))
    scaled = np.nan_to_num((bias - low) / (high - low or 1.0))
    return Bias(layers=len(bias), low=low, high=high, data=_bytes(scaled))


def _bytes(shares: FloatArray) -> str:
    """Numbers from 0 to 1 as bytes in base64."""
    return base64.b64encode(np.rint(255 * shares.clip(0, 1)).astype(np.uint8).tobytes()).decode()
