"""From a config to a model with its initial weights."""

from collections.abc import Callable

import torch

from lengthlab.config import Config
from lengthlab.encodings import ENCODINGS
from lengthlab.encodings.encoding import Encoding, Shape
from lengthlab.model.transformer import Transformer
from lengthlab.options import EncodingOptions
from lengthlab.seeding import torch_generator


def build_model(config: Config, vocabulary: int) -> Transformer:
    """The model of a config; its weights depend on `seeds.weights` alone."""
    shape = Shape(config.model.width, config.model.heads)

    def maker(options: EncodingOptions) -> Callable[[], Encoding]:
        encoding_class = ENCODINGS[options.kind].load()

        def make() -> Encoding:
            return encoding_class(options, shape)

        return make

    options = [pair.encoding for pair in config.pairs]
    # Encodings initialise themselves in torch's usual way, from its global generator: lend it the seed.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(torch_generator(config.seeds.weights, "weights").initial_seed())
        return Transformer(config.model, vocabulary, [maker(o) for o in options], [o.shared for o in options])
