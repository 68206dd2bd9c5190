"""Where a model computes."""

import os

import torch

from lengthlab.errors import UserError

CPU = torch.device("cpu")


def device_of(choice: str) -> torch.device:
    """The device that `training.device` means here; with several processes each has a GPU of its own."""
    if choice == "cuda" and not torch.cuda.is_available():
        raise UserError("training.device: torch finds no GPU here; use auto or cpu")
    if choice == "cpu" or not torch.cuda.is_available():
        return CPU
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
