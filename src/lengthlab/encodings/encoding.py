"""What an encoding is: hooks that do nothing unless they are overridden."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from lengthlab.config.sections import EncodingOptions, Options


@dataclass(frozen=True)
class Shape:
    """What an encoding may know of the model it is built into."""

    width: int
    heads: int

    @property
    def head_width(self) -> int:
        return self.width // self.heads


class Encoding(nn.Module):
    """Acts on the token embeddings, on queries and keys, on the attention logits, or on what is attended to.

    Position ids have the shape (1, T) or (B, T); those of queries and keys are separate arguments,
    so that one new token can be decoded against cached keys. Queries are always the last of the keys.
    """

    options_class: ClassVar[type[Options]] = EncodingOptions
    contextual: ClassVar[bool] = False  # whether `bias` looks at q and k; if not, it is computed once for all layers
    per_id: ClassVar[bool] = False  # whether each id has weights of its own, untrained if training never gave that id
    relative: ClassVar[bool] = True  # whether only differences of ids matter: adding a constant to all changes nothing

    def __init__(self, options: Any = None, shape: Shape | None = None) -> None:
        super().__init__()

    @classmethod
    def build(cls, heads: int, head_width: int = 64, **options: Any) -> Self:
        """The encoding by itself, for a model that is not lengthlab's: `Fire.build(heads=8, units=16)`."""
        return cls(cls.options_class(kind=cls.__name__, **options), Shape(heads * head_width, heads))

    def forward(
        self, q_positions: Tensor, k_positions: Tensor, q: Tensor | None = None, k: Tensor | None = None
    ) -> Tensor | None:
        """By itself, an encoding is a module from position ids, (T,) or (1 or B, T), to what is added to the logits.

        A contextual one also wants the queries and keys (B, H, T, D). None if it acts in another way.
        """
        return self.bias(q, k, torch.atleast_2d(q_positions), torch.atleast_2d(k_positions))

    @classmethod
    def refusal(cls, options: Any, highest: int) -> str | None:
        """Why ids up to `highest` cannot be encoded, as "option: reason", or None if they can."""
        return None

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Token embeddings (B, T, width) with the positions worked in. Called once, before the first layer."""
        return x

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        """Queries (B, H, Tq, D) and the new keys (B, H, Tk, D) with the positions worked in."""
        return q, k

    def bias(self, q: Tensor | None, k: Tensor | None, q_positions: Tensor, k_positions: Tensor) -> Tensor | None:
        """What is added to the scaled logits: (1 or B, H, Tq, Tk), or None."""
        return None

    def mix(self, weights: Tensor, q_positions: Tensor, k_positions: Tensor) -> Tensor | None:
        """What is added to the attended values, given the attention weights (B, H, Tq, Tk): (B, H, Tq, D), or None."""
        return None


def distances(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    """i - j for every query i and key j: (1 or B, Tq, Tk)."""
    return q_positions[:, :, None] - k_positions[:, None, :]
