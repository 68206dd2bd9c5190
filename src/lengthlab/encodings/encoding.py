"""What an encoding is: hooks that do nothing unless they are overridden."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, Self

import torch
from pydantic import ValidationError
from torch import Tensor, nn

from lengthlab.config.mistakes import first_mistake
from lengthlab.config.sections import EncodingOptions, Options
from lengthlab.errors import UserError


@dataclass(frozen=True)
class Shape:
    """What an encoding may know of the model it is built into."""

    width: int
    heads: int

    @property
    def head_width(self) -> int:
        return self.width // self.heads


CALLS = {"embed": "embed(x, positions)", "rotate": "rotate(q, k, q_positions, k_positions)"}
INSTEAD = {  # how many arguments a hook is called with, and what people mean who give it fewer
    "__init__": (2, "takes its options and the shape of a model; by itself it is built by {name}.build(heads=8)"),
    "bias": (4, "takes (q, k, q_positions, k_positions); by itself it is called as encoding(q_positions, k_positions)"),
}


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

    def __init_subclass__(cls, **options: Any) -> None:
        """Whoever calls a hook as it is not meant is told what is meant."""
        super().__init_subclass__(**options)
        for hook, (count, instead) in INSTEAD.items():
            if hook in vars(cls):
                setattr(cls, hook, _explained(vars(cls)[hook], count, instead))

    @classmethod
    def build(cls, heads: int, head_width: int = 64, **options: Any) -> Self:
        """The encoding by itself, for a model that is not lengthlab's: `Fire.build(heads=8, units=16)`."""
        try:
            chosen = cls.options_class(kind=cls.__name__, **options)
        except ValidationError as error:
            raise UserError(f"{cls.__name__}.build: {first_mistake(error)}") from None
        return cls(chosen, Shape(heads * head_width, heads))

    def forward(
        self, q_positions: Tensor, k_positions: Tensor, q: Tensor | None = None, k: Tensor | None = None
    ) -> Tensor:
        """By itself, an encoding is a module from position ids, (T,) or (1 or B, T), to what is added to the logits.

        A contextual one also wants the queries and keys (B, H, T, D).
        """
        name = type(self).__name__
        if self.contextual and (q is None or k is None):
            raise TypeError(f"{name} looks at the content: call it with (q_positions, k_positions, q, k)")
        added = self.bias(q, k, torch.atleast_2d(q_positions), torch.atleast_2d(k_positions))
        if added is None:
            acts = [call for hook, call in CALLS.items() if getattr(type(self), hook) is not vars(Encoding)[hook]]
            raise TypeError(f"{name} adds nothing to the logits{': call ' if acts else ''}{' and '.join(acts)}")
        return added

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


def _explained(hook: Callable[..., Any], count: int, instead: str) -> Callable[..., Any]:
    """A hook that says what is meant when it is given too little."""

    @wraps(hook)
    def explained(self: Encoding, *given: Any, **named: Any) -> Any:
        if len(given) + len(named) < count:
            name = type(self).__name__
            place = name if hook.__name__ == "__init__" else f"{name}.{hook.__name__}"
            raise TypeError(f"{place}: {instead.format(name=name)}")
        return hook(self, *given, **named)

    return explained


def distances(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    """i - j for every query i and key j: (1 or B, Tq, Tk)."""
    return q_positions[:, :, None] - k_positions[:, None, :]
