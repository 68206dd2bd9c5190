"""Tokens and their printed form.

    digits 0..9 | pad . | begin ^ | end $ | space _ | symbols such as + and = | hints a b ... z a' b' ...

A digit's token is the digit itself. Hints come last, so a larger set of hints moves no other token.
"""

import re
import string
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from lengthlab.errors import UserError

PAD, BEGIN, END, SPACE = 10, 11, 12, 13
_MARKS = ".^$_"
_LETTERS = string.ascii_lowercase


def hint_text(index: int) -> str:
    """The printed form of a hint: a, b, ..., z, a', b', ..., z', a'', ..."""
    return _LETTERS[index % 26] + "'" * (index // 26)


def up_to_end(tokens: list[int]) -> list[int]:
    """What was written up to the end token, that included; all of it where there is none.

    >>> up_to_end([3, 7, END, PAD]), up_to_end([3, 7])
    ([3, 7, 12], [3, 7])
    """
    return tokens[: tokens.index(END) + 1] if END in tokens else tokens


class Vocabulary:
    """All tokens of a format: ten digits, four marks, the symbols, then `hints` hint tokens."""

    def __init__(self, symbols: Sequence[str], hints: int) -> None:
        self.hints = hints
        self.texts = [str(digit) for digit in range(10)] + list(_MARKS) + list(symbols)
        self.first_hint = len(self.texts)
        self.texts += [hint_text(index) for index in range(hints)]
        self._tokens = {text: token for token, text in enumerate(self.texts)}

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, text: str) -> int:
        return self._tokens[text]

    def is_hint(self, tokens: NDArray[np.integer]) -> NDArray[np.bool_]:
        return tokens >= self.first_hint

    def text(self, tokens: Iterable[int]) -> str:
        """The printed form of a sequence of tokens."""
        return "".join(self.texts[token] for token in tokens)

    def tokens(self, text: str) -> list[int]:
        """The inverse of `text`."""
        pieces = re.findall(r"[a-z]'*|[^a-z']", text)
        for piece in pieces:
            if piece not in self._tokens:
                raise UserError(f"{piece!r} is not a token of this format")
        return [self._tokens[piece] for piece in pieces]
