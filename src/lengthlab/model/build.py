"""From a config to a model with its initial weights, and where it computes."""

import ctypes
import os
import sys
from collections.abc import Callable

import torch

from lengthlab.config.schema import Config
from lengthlab.config.sections import EncodingOptions
from lengthlab.encodings import ENCODINGS
from lengthlab.encodings.encoding import Encoding, Shape
from lengthlab.errors import UserError
from lengthlab.model.transformer import Transformer
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
        # Not torch.manual_seed: where there is no GPU, it writes down the whole call stack for each kind of device.
        torch.default_generator.manual_seed(torch_generator(config.seeds.weights, "weights").initial_seed())
        return Transformer(config.model, vocabulary, [maker(o) for o in options], [o.shared for o in options])


CPU = torch.device("cpu")


def device_of(choice: str) -> torch.device:
    """The device that `training.device` means here; with several processes each has a GPU of its own."""
    if choice == "cuda" and not torch.cuda.is_available():
        raise UserError("training.device: torch finds no GPU here; use auto or cpu")
    if choice == "cpu" or not torch.cuda.is_available():
        return CPU
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))


# glibc's numbers of the settings (malloc.h), and what they are set to: no block is mapped by itself and unmapped when
# it is freed, and none of the memory that is free goes back.
MALLOC_SETTINGS = {"M_MMAP_MAX": (-4, 0), "M_TRIM_THRESHOLD": (-1, 2**31 - 1)}


def keep_freed_memory() -> bool:
    """Tell glibc's malloc not to hand large blocks back to the system; False where there is another malloc.

    A training step or a test batch asks for the same hundreds of megabytes each time. Handed back and asked for anew,
    every page of them is mapped and cleared again: 20,000 page faults a step of a 0.56M model. Without them a step
    takes a fifth less time and a pass over right answers a quarter, in no more memory (LOG.md).
    """
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and all(mallopt(number, value) for number, value in MALLOC_SETTINGS.values())
